//go:build !update

package conversion

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/randfill"

	carryv1 "apigen.dev/generator/internal/emit/conversion/testdata/carry/v1"
	carryv1beta1 "apigen.dev/generator/internal/emit/conversion/testdata/carry/v1beta1"
	"apigen.dev/generator/internal/plan"
)

func spokeOf(t *testing.T, hub *carryv1.Rack) *carryv1beta1.Rack {
	t.Helper()
	out := new(carryv1beta1.Rack)
	if err := carryv1beta1.Convert_v1_Rack_To_v1beta1_Rack(hub, out, nil); err != nil {
		t.Fatal(err)
	}
	return out
}

func hubOf(t *testing.T, spoke *carryv1beta1.Rack) *carryv1.Rack {
	t.Helper()
	out := new(carryv1.Rack)
	if err := carryv1beta1.Convert_v1beta1_Rack_To_v1_Rack(spoke, out, nil); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPreservedFieldsComeBack checks that a hub object loses nothing on the way through a version that lacks fields of
// it, that the hub shows nothing of the annotation, and that neither object changes.
func TestPreservedFieldsComeBack(t *testing.T) {
	carried := 0
	for seed := range int64(300) {
		hub := new(carryv1.Rack)
		randfill.NewWithSeed(seed).NilChance(0.3).NumElements(1, 3).MaxDepth(9).Funcs(
			func(s *carryv1.RackSpec, c randfill.Continue) {
				c.FillNoCustom(s)
				for i := range s.Slots {
					s.Slots[i].Name += string(rune('a' + i)) // keys are unique
				}
			}).Fill(&hub.Spec)
		if seed%2 == 0 {
			hub.Annotations = map[string]string{"a": "b"}
		}
		before := maps.Clone(hub.Annotations)
		spoke := spokeOf(t, hub)
		if !cmp.Equal(before, hub.Annotations) {
			t.Fatalf("the hub's annotations changed: %v", hub.Annotations)
		}
		noted := maps.Clone(spoke.Annotations)
		if noted[plan.PreservedAnnotation] != "" {
			carried++
		}
		back := hubOf(t, spoke)
		if !equality.Semantic.DeepEqual(hub, back) {
			t.Fatalf("seed %d: -before +after:\n%s", seed, cmp.Diff(hub, back))
		}
		if !cmp.Equal(noted, spoke.Annotations) {
			t.Fatalf("the version's annotations changed: %v", spoke.Annotations)
		}
	}
	if carried < 200 {
		t.Errorf("only %d of 300 objects carried something", carried)
	}
}

func TestPreservedFieldsFollowTheirPlace(t *testing.T) {
	slot := func(name, label string) carryv1.Slot { return carryv1.Slot{Name: name, Labels: []string{label}} }
	hub := &carryv1.Rack{Spec: carryv1.RackSpec{
		Slots: []carryv1.Slot{slot("a", "1"), slot("b", "2")},
		Loose: []*carryv1.Slot{{Name: "x", Labels: []string{"3"}}, {Name: "y", Labels: []string{"4"}}},
		Cells: map[string]carryv1.Slot{"k": slot("c", "5"), "l": slot("d", "6")},
		Door:  &carryv1.Slot{Name: "door", Labels: []string{"7"}},
	}}
	spoke := spokeOf(t, hub)
	spoke.Spec.Slots[0], spoke.Spec.Slots[1] = spoke.Spec.Slots[1], spoke.Spec.Slots[0] // by key: they move along
	spoke.Spec.Loose[1].Name = "z"                                                      // by place and content: gone
	delete(spoke.Spec.Cells, "l")
	spoke.Spec.Door = nil
	want := carryv1.RackSpec{
		Slots: []carryv1.Slot{slot("b", "2"), slot("a", "1")},
		Loose: []*carryv1.Slot{{Name: "x", Labels: []string{"3"}}, {Name: "z"}},
		Cells: map[string]carryv1.Slot{"k": slot("c", "5")},
	}
	if diff := cmp.Diff(want, hubOf(t, spoke).Spec); diff != "" {
		t.Error(diff)
	}
}

// TestOwnFieldsComeBack checks that a version's object loses nothing on the way through a hub that lacks fields of it.
// Somebody may set the hub's own fields meanwhile, and these are not lost either.
func TestOwnFieldsComeBack(t *testing.T) {
	carried := 0
	for seed := range int64(300) {
		fill := randfill.NewWithSeed(seed).NilChance(0.3).NumElements(1, 3).MaxDepth(9)
		spoke := new(carryv1beta1.Rack)
		fill.Funcs(func(s *carryv1beta1.RackSpec, c randfill.Continue) {
			c.FillNoCustom(s)
			for i := range s.Slots {
				s.Slots[i].Name += string(rune('a' + i)) // keys are unique
			}
		}).Fill(&spoke.Spec)
		if seed%2 == 0 {
			spoke.Annotations = map[string]string{"a": "b"}
		}
		before := spoke.DeepCopy()
		hub := hubOf(t, spoke)
		if !equality.Semantic.DeepEqual(before, spoke) {
			t.Fatalf("the version's object changed: %s", cmp.Diff(before, spoke))
		}
		if hub.Annotations[ownAnnotation] != "" {
			carried++
		}
		for i := range hub.Spec.Slots {
			hub.Spec.Slots[i].Labels = []string{"x"}
		}
		for _, slot := range hub.Spec.Loose {
			if slot != nil {
				slot.Labels = []string{"y"}
			}
		}
		noted := hub.DeepCopy()
		back := spokeOf(t, hub)
		if !equality.Semantic.DeepEqual(noted, hub) {
			t.Fatalf("the hub's object changed: %s", cmp.Diff(noted, hub))
		}
		again := hubOf(t, back)
		delete(back.Annotations, plan.PreservedAnnotation)
		if !equality.Semantic.DeepEqual(spoke, back) {
			t.Fatalf("seed %d: -before +after:\n%s", seed, cmp.Diff(spoke, back))
		}
		if !equality.Semantic.DeepEqual(hub, again) {
			t.Fatalf("seed %d: hub -before +after:\n%s", seed, cmp.Diff(hub, again))
		}
	}
	if carried < 200 {
		t.Errorf("only %d of 300 objects carried something", carried)
	}
}

const ownAnnotation = plan.PreservedAnnotation + "-v1beta1"

func TestOwnFieldsFollowTheirPlace(t *testing.T) {
	slot := func(name string, depth int) carryv1beta1.Slot {
		return carryv1beta1.Slot{Name: name, Side: carryv1beta1.Side{Depth: depth}}
	}
	a, b := slot("x", 3), slot("y", 4)
	door := slot("door", 7)
	watts := int32(60)
	spoke := &carryv1beta1.Rack{Spec: carryv1beta1.RackSpec{
		Watts: &watts,
		Slots: []carryv1beta1.Slot{slot("a", 1), slot("b", 2)},
		Loose: []*carryv1beta1.Slot{&a, &b},
		Cells: map[string]carryv1beta1.Slot{"k": slot("c", 5), "l": slot("d", 6)},
		Door:  &door,
	}}
	hub := hubOf(t, spoke)
	if want := `{"spec.slots[].side":{"\"a\"":{"depth":1},"\"b\"":{"depth":2}},`; !strings.HasPrefix(
		hub.Annotations[ownAnnotation], want) {
		t.Errorf("%s", hub.Annotations[ownAnnotation])
	}
	hub.Spec.Slots[0], hub.Spec.Slots[1] = hub.Spec.Slots[1], hub.Spec.Slots[0] // by key: they move along
	hub.Spec.Loose[0].Labels = []string{"what the version can't see"}
	hub.Spec.Loose[1].Name = "z" // by place and content: gone
	delete(hub.Spec.Cells, "l")
	hub.Spec.Door = nil
	x := slot("x", 3)
	want := carryv1beta1.RackSpec{
		Watts: &watts,
		Slots: []carryv1beta1.Slot{slot("b", 2), slot("a", 1)},
		Loose: []*carryv1beta1.Slot{&x, {Name: "z"}},
		Cells: map[string]carryv1beta1.Slot{"k": slot("c", 5)},
	}
	if diff := cmp.Diff(want, spokeOf(t, hub).Spec); diff != "" {
		t.Error(diff)
	}
}

// TestSpoiltOwnAnnotations checks that an annotation that a client of another version wrote never makes an object
// unreadable and sets no fields but the version's own, and that a write of the version replaces it.
func TestSpoiltOwnAnnotations(t *testing.T) {
	watts := int32(5)
	for name, c := range map[string]struct {
		text string
		want carryv1beta1.RackSpec
		left bool
	}{
		"a field of the version":  {`{"spec.watts":5}`, carryv1beta1.RackSpec{Units: 3, Watts: &watts}, false},
		"fields that have a home": {`{"spec.units":7,"spec":{"units":9}}`, carryv1beta1.RackSpec{Units: 3}, false},
		"elements that aren't": {
			`{"spec.slots[].side":{"\"a\"":{"depth":1}},"spec.door.side":{"depth":2}}`,
			carryv1beta1.RackSpec{Units: 3}, false,
		},
		"no JSON":      {`{`, carryv1beta1.RackSpec{Units: 3}, true},
		"another type": {`{"spec.watts":"yes"}`, carryv1beta1.RackSpec{Units: 3}, true},
		"too much":     {strings.Repeat(" ", 256<<10) + "{}", carryv1beta1.RackSpec{Units: 3}, true},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &carryv1.Rack{Spec: carryv1.RackSpec{Height: 3}}
			hub.Annotations = map[string]string{ownAnnotation: c.text}
			spoke := spokeOf(t, hub)
			if _, left := spoke.Annotations[ownAnnotation]; left != c.left || !cmp.Equal(c.want, spoke.Spec) {
				t.Errorf("%v %+v", left, spoke.Spec)
			}
			if text := hubOf(t, spoke).Annotations[ownAnnotation]; c.want.Watts != nil && text != c.text ||
				c.want.Watts == nil && text != "" {
				t.Errorf("written again as %q", text)
			}
		})
	}
}

func TestOwnFieldsAreBounded(t *testing.T) {
	cells := map[string]carryv1beta1.Slot{strings.Repeat("x", 256<<10): {Side: carryv1beta1.Side{Left: true}}}
	err := carryv1beta1.Convert_v1beta1_Rack_To_v1_Rack(&carryv1beta1.Rack{Spec: carryv1beta1.RackSpec{Cells: cells}},
		new(carryv1.Rack), nil)
	if err == nil || !strings.Contains(err.Error(), "what version v1beta1 alone has takes") {
		t.Error(err)
	}
}

// TestForgedAnnotations: what a client writes there sets preserved fields and nothing else, or is refused.
func TestForgedAnnotations(t *testing.T) {
	for name, c := range map[string]struct {
		text, err string
		want      carryv1.RackSpec
	}{
		"a preserved field": {`{"spec.locked":true}`, "", carryv1.RackSpec{Height: 3, Locked: true}},
		"fields that have a home": {
			`{"spec.height":7,"metadata.name":"x","spec":{"height":9}}`, "", carryv1.RackSpec{Height: 3},
		},
		"elements that aren't": {
			`{"spec.slots[].labels":{"\"a\"":["x"]},"spec.door.labels":["x"]}`, "", carryv1.RackSpec{Height: 3},
		},
		"nulls":        {`{"spec.price":null,"spec.loose[].labels":{"0/":null}}`, "", carryv1.RackSpec{Height: 3}},
		"no JSON":      {`{`, "annotation apigen.dev/preserved: unexpected end of JSON input", carryv1.RackSpec{}},
		"another type": {`{"spec.locked":"yes"}`, "cannot unmarshal string", carryv1.RackSpec{}},
		"too much": {strings.Repeat(" ", 256<<10) + "{}", "takes 262146 bytes, and may take 262144",
			carryv1.RackSpec{}},
	} {
		t.Run(name, func(t *testing.T) {
			spoke := &carryv1beta1.Rack{Spec: carryv1beta1.RackSpec{Units: 3}}
			spoke.Annotations = map[string]string{plan.PreservedAnnotation: c.text}
			out := new(carryv1.Rack)
			err := carryv1beta1.Convert_v1beta1_Rack_To_v1_Rack(spoke, out, nil)
			switch {
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("%v", err)
			case c.err == "" && (err != nil || !cmp.Equal(c.want, out.Spec) || out.Annotations != nil):
				t.Errorf("%v %+v", err, out)
			}
		})
	}
}

func TestPreservedIsBounded(t *testing.T) {
	note := strings.Repeat("x", 256<<10)
	err := carryv1beta1.Convert_v1_Rack_To_v1beta1_Rack(&carryv1.Rack{Spec: carryv1.RackSpec{Note: &note}},
		new(carryv1beta1.Rack), nil)
	if err == nil || !strings.Contains(err.Error(), "annotations 262144 at most") {
		t.Error(err)
	}
}

func TestMembersOfWhatIsCarried(t *testing.T) {
	for path, want := range map[string]string{
		"spec.note": "SpecNote", "spec.slots[].label": "SpecSlotsLabel", "2x": "F2x", "été.a-b": "ÉtéAB",
		"世.a": "F世A", "_": "F",
	} {
		if got := memberName(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	c := &carrier{Carrier: &plan.Carrier{Fields: []plan.Preserved{{Name: "a.b"}, {Name: "a_b"}, {Name: "a.bc"}}}}
	if got := []string{c.member(0), c.member(1), c.member(2)}; !slices.Equal(got, []string{"AB", "AB_1", "ABc"}) {
		t.Errorf("%q", got)
	}
}

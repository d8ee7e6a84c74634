package roundtrip

import (
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net/netip"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"
)

type color string

// box and crate are a version and its hub.
type box struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Size   int32             `json:"size"`
	Color  color             `json:"color,omitempty"`
	Tags   map[string]string `json:"tags,omitempty"`
	Parts  []part            `json:"parts,omitempty"`
	Secret string            `json:"secret,omitempty"`
	Broken doubled           `json:"broken,omitempty"`

	Extra  *runtime.RawExtension  `json:"extra,omitempty"`
	Extras []runtime.RawExtension `json:"extras,omitempty"`
}

type part struct {
	Name  string  `json:"name"`
	Count *int32  `json:"count,omitempty"`
	Notes []*note `json:"notes,omitempty"`
}

type note struct {
	Text string `json:"text"`
}

// doubled is lost in JSON if it is 13.
type doubled int32

func (d doubled) MarshalJSON() ([]byte, error) {
	if d == 13 {
		return []byte("12"), nil
	}
	return json.Marshal(int32(d))
}

type crate struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Size   int64
	Color  color
	Tags   map[string]string
	Parts  []part
	Extra  *runtime.RawExtension
	Extras []runtime.RawExtension
	Hidden string
	Any    any
	Object runtime.Object
}

func (b *box) DeepCopyObject() runtime.Object   { return clone(b) }
func (c *crate) DeepCopyObject() runtime.Object { return clone(c) }

func toHub(in *box, out *crate) error {
	out.ObjectMeta, out.Size, out.Color = in.ObjectMeta, int64(in.Size), in.Color
	out.Tags, out.Parts, out.Extra, out.Extras = in.Tags, in.Parts, in.Extra, in.Extras
	return nil
}

func fromHub(in *crate, out *box) error {
	out.ObjectMeta, out.Size, out.Color = in.ObjectMeta, int32(in.Size), in.Color
	if int64(out.Size) != in.Size {
		return errors.New("size doesn't fit")
	}
	out.Tags, out.Parts, out.Extra, out.Extras = in.Tags, in.Parts, in.Extra, in.Extras
	return nil
}

func good() Version[*box, *crate] {
	return Version[*box, *crate]{
		New: func() *box { return new(box) }, NewHub: func() *crate { return new(crate) },
		Default: func(b *box) {
			if b.Size == 0 {
				b.Size = 1
			}
		},
		ToHub: toHub, FromHub: fromHub,
		Dropped: []Field{FieldOf[box]("Secret"), FieldOf[box]("Broken"), FieldOf[crate]("Hidden")},
		Values:  []any{[]color{"red", "blue"}, []doubled{0}},
	}
}

// FuzzGood runs as generated tests do.
func FuzzGood(f *testing.F) { Fuzz(f, good()) }

// first is the first fault that the seeds find.
func first(v Version[*box, *crate]) *fault {
	for i := range 4 * seeds {
		if f := v.check(seed(i)); f != nil {
			return f
		}
	}
	return nil
}

// badCopy shares its tags with the original.
type badCopy box

func (b *badCopy) DeepCopyObject() runtime.Object {
	out := clone(b)
	out.Tags = b.Tags
	return out
}

// TestPlantedFaults plants one loss after the other: each must be found, at its field, with the smallest object.
func TestPlantedFaults(t *testing.T) {
	for name, plant := range map[string]struct {
		change func(*Version[*box, *crate])
		want   []string // in the report
		object string   // the smallest object, if it is always the same
	}{
		"a conversion to the hub forgets a field": {func(v *Version[*box, *crate]) {
			v.ToHub = func(in *box, out *crate) error { _ = toHub(in, out); out.Color = ""; return nil }
		}, []string{"*roundtrip.box", "the way to the hub and back", ": color: ", `became ""`}, ""},
		"a conversion from the hub forgets a field of a list's elements": {func(v *Version[*box, *crate]) {
			v.FromHub = func(in *crate, out *box) error {
				err := fromHub(in, out)
				for i := range out.Parts {
					out.Parts[i].Count = nil
				}
				return err
			}
		}, []string{"parts[0].count", "became nil"}, ""},
		"a field that was to be dropped on purpose, and isn't marked": {func(v *Version[*box, *crate]) {
			v.Dropped = v.Dropped[:2]
		}, []string{"*roundtrip.crate", "the way from the hub to the version and back", ": Hidden: ",
			"\nif a conversion is to lose it: +apigen:conversion:drop at the field"}, ""},
		"a conversion adds what wasn't there": {func(v *Version[*box, *crate]) {
			v.FromHub = func(in *crate, out *box) error {
				err := fromHub(in, out)
				out.Labels = maps.Clone(out.Labels)
				if out.Labels == nil {
					out.Labels = map[string]string{}
				}
				out.Labels["mine"] = "x"
				return err
			}
		}, []string{"metadata.labels"}, "  {}"},
		"a way back that fails": {func(v *Version[*box, *crate]) {
			v.FromHub = func(*crate, *box) error { return errors.New("no way") }
		}, []string{"can't be converted back: no way"}, "  {}"},
		"a conversion forgets what a document says": {func(v *Version[*box, *crate]) {
			v.FromHub = func(in *crate, out *box) error {
				err := fromHub(in, out)
				if in.Extra != nil {
					out.Extra = &runtime.RawExtension{Raw: []byte(`{}`)}
				}
				return err
			}
		}, []string{"extra: {", "became {}"}, ""},
		"defaults that go on changing": {func(v *Version[*box, *crate]) {
			v.Default = func(b *box) { b.Size++ }
		}, []string{"its defaults, set twice", ": size: 1 became 2"}, "  {}"},
		"JSON that says something else": {func(v *Version[*box, *crate]) {
			v.Values = []any{[]doubled{13}}
		}, []string{"JSON", ": broken: 13 became 12"}, "  broken: 12"},
	} {
		t.Run(name, func(t *testing.T) {
			v := good()
			plant.change(&v)
			found := first(v)
			if found == nil {
				t.Fatal("no fault found")
			}
			report := found.report()
			t.Log(report)
			for _, want := range plant.want {
				if !strings.Contains(report, want) {
					t.Errorf("the report doesn't say %q:\n%s", want, report)
				}
			}
			if plant.object != "" && !strings.HasSuffix(report, "\n"+plant.object) {
				t.Errorf("the object is not %q:\n%s", plant.object, report)
			}
			if lines := strings.Count(report, "\n"); lines > 8 {
				t.Errorf("%d lines are no small object:\n%s", lines, report)
			}
		})
	}
	if f := first(good()); f != nil {
		t.Errorf("nothing is planted, and found is: %s", f.report())
	}
}

// TestRawExtensionsAreComparedByWhatTheySay: CBOR keeps them as CBOR, which says what their JSON did.
func TestRawExtensionsAreComparedByWhatTheySay(t *testing.T) {
	fromJSON := &box{Extra: &runtime.RawExtension{Raw: []byte(`{"a":1}`)}}
	for _, c := range (&Version[*box, *crate]{New: func() *box { return new(box) }}).checks() {
		if d := c.run(fromJSON); d.found() {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
	other := &box{Extra: &runtime.RawExtension{Raw: []byte(`{"a":2}`)}}
	if d := compare(fromJSON, other); d.path != "extra" || !strings.Contains(d.text, `{"a":1} became {"a":2}`) {
		t.Errorf("%+v", d)
	}
}

// TestHiddenFields: the comparison ignores unexported fields, which no encoding carries, and compares the fields beside
// them.
func TestHiddenFields(t *testing.T) {
	type sealed struct {
		Text   string
		opened []int
	}
	type holder struct {
		One  *sealed
		Many []sealed
		By   map[string]sealed
		Sum  *big.Int
		At   netip.AddrPort
	}
	in := holder{&sealed{"x", []int{1}}, []sealed{{"y", nil}}, map[string]sealed{"k": {"z", []int{2}}}, big.NewInt(7),
		netip.MustParseAddrPort("10.0.0.1:80")}
	if d := compare(in, holder{&sealed{Text: "x"}, []sealed{{Text: "y"}}, map[string]sealed{"k": {Text: "z"}},
		big.NewInt(7), in.At}); d.found() {
		t.Errorf("hidden fields are missed: %+v", d)
	}
	for path, out := range map[string]holder{
		"One":            {nil, in.Many, in.By, in.Sum, in.At},
		"One.Text":       {&sealed{"a", []int{1}}, in.Many, in.By, in.Sum, in.At},
		"Many":           {in.One, nil, in.By, in.Sum, in.At},
		"By[\"k\"].Text": {in.One, in.Many, map[string]sealed{"k": {}}, in.Sum, in.At},
		"By":             {in.One, in.Many, map[string]sealed{"k": in.By["k"], "l": {}}, in.Sum, in.At},
		"Sum":            {in.One, in.Many, in.By, big.NewInt(8), in.At},
		"At":             {in.One, in.Many, in.By, in.Sum, netip.AddrPort{}},
	} {
		if d := compare(in, out); d.path != path {
			t.Errorf("%+v, want a difference at %s", d, path)
		}
	}
}

func TestSharedMemoryIsFound(t *testing.T) {
	object := &box{Tags: map[string]string{"a": "b"}, Parts: []part{{Notes: []*note{{"x"}}}}}
	if d := copied((*badCopy)(object)); d.path != "tags" || !strings.Contains(d.text, "shares") {
		t.Errorf("%+v", d)
	}
	if d := copied(object); d.found() {
		t.Errorf("a good copy: %+v", d)
	}
}

func TestRefusalsOfAllObjectsAreFound(t *testing.T) {
	v := good()
	v.ToHub = func(*box, *crate) error { return errors.New("no") }
	if why := v.refusesAll(); len(why) != 1 || !strings.Contains(why[0], "the conversion to the hub refused all") {
		t.Errorf("%q", why)
	}
	v = good()
	if why := v.refusesAll(); why != nil {
		t.Errorf("%q", why)
	}
}

func TestNeverNil(t *testing.T) {
	v := good()
	v.NeverNil = []Field{FieldOf[part]("Count")}
	object := &box{Parts: []part{{}}}
	v.prepare(object)
	if n := object.Parts[0].Count; n == nil || *n != 0 {
		t.Errorf("%v", n)
	}
}

// TestNeverNilWithin: pointers in lists and maps count, too.
func TestNeverNilWithin(t *testing.T) {
	type holder struct {
		List []*part
		Map  map[string][]*part
	}
	object := &holder{List: []*part{nil, {}}, Map: map[string][]*part{"a": {nil}}}
	v := good()
	v.NeverNil = []Field{FieldOf[holder]("List"), FieldOf[holder]("Map")}
	v.prepare(object)
	if object.List[0] == nil || object.Map["a"][0] == nil {
		t.Errorf("%+v", object)
	}
}

func TestFillersCount(t *testing.T) {
	v := good()
	v.Fillers = []any{func(p *part, _ randfill.Continue) { p.Name = "always" }}
	met := 0
	for i := range seeds {
		object := v.New()
		v.fill(object, seed(i))
		for _, p := range object.Parts {
			if met++; p.Name != "always" {
				t.Errorf("%q", p.Name)
			}
		}
	}
	if met == 0 {
		t.Error("no object has parts")
	}
}

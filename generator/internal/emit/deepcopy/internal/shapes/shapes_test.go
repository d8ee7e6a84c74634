package shapes

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"apigen.dev/generator/internal/emit/deepcopy/internal/foreign"
)

// filled returns an object with everything set, at random.
func filled(seed int64) *Object {
	object := &Object{}
	randfill.NewWithSeed(seed).NilChance(.2).NumElements(1, 3).MaxDepth(9).Funcs(
		func(t *time.Time, c randfill.Continue) { *t = time.Unix(c.Int63n(1e9), 0) },
		func(o *runtime.Object, c randfill.Continue) {
			*o = &runtime.Unknown{Raw: []byte(c.String(5)), ContentType: c.String(5)}
		},
		func(s *foreign.Shape, c randfill.Continue) { *s = &foreign.Square{Corners: []int{c.Int(), c.Int()}} },
		func(s *foreign.Cloner, c randfill.Continue) { *s = &foreign.Square{Corners: []int{c.Int()}} },
		func(o *foreign.Only, c randfill.Continue) { *o = foreign.NewOnly(c.String(5)) },
		func(o *foreign.ByValue, c randfill.Continue) { *o = foreign.NewByValue(c.Int()) },
		func(o *foreign.Plain, c randfill.Continue) { *o = foreign.NewPlain(c.Int()) },
		func(h *HandMade, c randfill.Continue) {
			*h = HandMade{Half: Half{Values: []string{c.String(5)}}, Pointer: &Half{}, Numbers: []Number{1}}
		},
		func(g *promoting, c randfill.Continue) {
			*g = promoting{Inner: Inner{[]string{c.String(3)}}, Own: []int{c.Int()}}
		},
	).Fill(object)
	object.Foreign.promoting = promoting{Inner: Inner{[]string{"a"}}, Own: []int{1}}
	object.Foreign.promotings = []promoting{object.Foreign.promoting, {}}
	object.Foreign.promotings[0].Own = []int{2}
	return object
}

func TestCopyIsEqualAndSharesNothing(t *testing.T) {
	for seed := range int64(50) {
		object := filled(seed)
		clone := object.DeepCopy()
		if clone.HandMade.Half.Copies != 1 || clone.HandMade.Pointer.Copies != 1 || clone.HandMade.Numbers[0] != 2 {
			t.Fatal("hand-written methods were not called")
		}
		if path := shared(object, clone); path != "" {
			t.Fatalf("seed %d: %s is shared", seed, path)
		}
		clone.HandMade = object.HandMade
		if !reflect.DeepEqual(object, clone) {
			t.Fatalf("seed %d: the copy differs", seed)
		}
	}
}

func TestNilStaysNilAndEmptyStaysEmpty(t *testing.T) {
	in := &Object{}
	if out := in.DeepCopy(); !reflect.DeepEqual(in.Nested, out.Nested) || out.Foreign.Eager != nil {
		t.Errorf("nil became something: %+v", out)
	}
	var none []string
	in.Nested.PointerToSlice = &none
	in.Nested.PointerToMap = &map[string][]int{}
	in.References.Slice = []string{}
	in.Named.Index = Index{"nil": nil}
	in.Nested.MapOfSlices = map[string][]string{"nil": nil, "empty": {}}
	out := in.DeepCopy()
	out.HandMade = in.HandMade
	if !reflect.DeepEqual(in, out) {
		t.Errorf("nil, empty and unset are mixed up: %+v", out)
	}
	var index Index
	var names Names
	left := Index{"left": nil}
	index.DeepCopyInto(&left)
	if index.DeepCopy() != nil || names.DeepCopy() != nil || left != nil {
		t.Error("the copy of a nil map or slice is not nil")
	}
}

func TestNothingIsLeftOfWhatWasThere(t *testing.T) {
	out := &Holder{Name: "old", Values: []string{"old"}, Plain: Plain{Count: 1}}
	(&Holder{Name: "new"}).DeepCopyInto(out)
	if !reflect.DeepEqual(out, &Holder{Name: "new"}) {
		t.Errorf("got %s %v %v", out.Name, out.Values, out.Plain)
	}
	for seed := range int64(5) {
		in, out := filled(seed), filled(seed+100)
		in.HandMade, in.Holder = HandMade{}, nil
		in.DeepCopyInto(out)
		out.HandMade = in.HandMade
		if !reflect.DeepEqual(in, out) {
			t.Errorf("seed %d: a copy into an old object differs", seed)
		}
	}
}

func TestNilReceivers(t *testing.T) {
	var object *Object
	if object.DeepCopy() != nil || object.DeepCopyObject() != nil {
		t.Error("the copy of a nil object is not nil")
	}
}

func TestObjectIsRuntimeObject(t *testing.T) {
	for _, object := range []runtime.Object{filled(1), &ObjectList{Items: []Object{*filled(2)}}} {
		clone := object.DeepCopyObject()
		if reflect.TypeOf(clone) != reflect.TypeOf(object) {
			t.Errorf("the copy of a %T is a %T", object, clone)
		}
		if path := shared(object, clone); path != "" {
			t.Errorf("%s is shared", path)
		}
	}
}

func TestOtherInterfaces(t *testing.T) {
	one := 1
	for _, shape := range []foreign.Shape{Circle{Points: []int{1}}, Polygon{&one, nil}, &Line{Points: []int{2}}} {
		clone := shape.DeepCopyShape()
		if path := shared(shape, clone); path != "" || !reflect.DeepEqual(shape, clone) {
			t.Errorf("%T: the copy is %#v and shares %q", shape, clone, path)
		}
	}
	if Polygon(nil).DeepCopyShape() != nil || (*Line)(nil).DeepCopyShape() != nil {
		t.Error("the copy of nil is not nil")
	}
}

// The checker itself must see what is shared.
func TestSharedIsFound(t *testing.T) {
	object := filled(3)
	clone := object.DeepCopy()
	clone.Nested.MapOfMaps = object.Nested.MapOfMaps
	object.Nested.MapOfMaps = map[string]map[string]map[string][]string{"a": {"b": {"c": {"d"}}}}
	clone.Nested.MapOfMaps = map[string]map[string]map[string][]string{
		"a": {"b": {"c": object.Nested.MapOfMaps["a"]["b"]["c"]}},
	}
	if path := shared(object, clone); path != "*.Nested.MapOfMaps[a][b][c][]" {
		t.Errorf("found %q", path)
	}
}

// shared returns the path in the second value to memory that the first one holds too, or nothing.
func shared(a, b any) string {
	held := map[uintptr]bool{}
	walk(reflect.ValueOf(a), "", func(at uintptr, _ string) { held[at] = true })
	found := ""
	walk(reflect.ValueOf(b), "", func(at uintptr, path string) {
		if held[at] && found == "" {
			found = path
		}
	})
	return found
}

// walk visits the address of everything that a value refers to, unexported fields included.
func walk(v reflect.Value, path string, visit func(at uintptr, path string)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem().Size() > 0 {
			visit(v.Pointer(), path+"*")
			walk(v.Elem(), path+"*", visit)
		}
	case reflect.Interface:
		walk(v.Elem(), path, visit)
	case reflect.Slice:
		if v.Cap() > 0 && v.Type().Elem().Size() > 0 {
			visit(v.Pointer(), path+"[]")
		}
		for i := range v.Len() {
			walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case reflect.Map:
		if !v.IsNil() {
			visit(v.Pointer(), path+"{}")
		}
		for entries := v.MapRange(); entries.Next(); {
			walk(entries.Value(), fmt.Sprintf("%s[%v]", path, entries.Key()), visit)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() || v.Type().PkgPath() == "net/netip" {
			return // what these refer to never changes
		}
		for i := range v.NumField() {
			walk(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	}
}

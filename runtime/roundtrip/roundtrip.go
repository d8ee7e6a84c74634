// Package roundtrip is called by generated tests of conversions and codecs. It fills objects of a kind at random, and
// converts them to the hub and back, encodes them as JSON, YAML and CBOR, copies them and sets their defaults. It
// shrinks an object that comes back different to the smallest one that shows the fault. It is for tests alone, works by
// reflection, and knows apimachinery and nothing of ours.
package roundtrip

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"sigs.k8s.io/yaml"
)

// Version is a kind in one version: V is the pointer to its Go type, H the pointer to the hub's Go type. Generated
// tests fill it in.
type Version[V, H runtime.Object] struct {
	// New and NewHub return empty objects.
	New    func() V
	NewHub func() H
	// Default sets the defaults of the version; nil if it has none.
	Default func(V)
	// ToHub and FromHub convert. Both are nil if the version is the hub.
	ToHub   func(in V, out H) error
	FromHub func(in H, out V) error
	// Dropped are fields, of the version and of the hub, that conversions lose on purpose. They are empty in the
	// objects that are converted. NeverNil are pointers that the other side has as values, so that nil and zero are the
	// same there. They are set in the objects that are converted.
	Dropped, NeverNil []Field
	// Values are slices with the possible values of their element's type.
	Values []any
	// Fillers are functions func(*T, randfill.Continue) that fill values of a type which has invalid values.
	Fillers []any
}

// Field names a field of a struct.
type Field struct {
	Struct reflect.Type
	Name   string
}

// FieldOf names a field of the struct S.
func FieldOf[S any](name string) Field { return Field{reflect.TypeFor[S](), name} }

// seeds is the number of objects in a test without -fuzz.
const seeds = 16

// Fuzz is the body of a fuzz test: it adds a few seeds, which run in a fraction of a second, and checks objects made
// from them and from the inputs of `go test -fuzz`.
//
// A conversion may refuse an object by an error. Then nothing is lost, and Fuzz tries another object. Where a direction
// refuses the objects of all seeds, the test fails.
func Fuzz[V, H runtime.Object](f *testing.F, v Version[V, H]) {
	f.Helper()
	for i := range seeds {
		f.Add(seed(i))
	}
	for _, why := range v.refusesAll() {
		f.Error(why)
	}
	var reported sync.Map // the test reports each fault once
	f.Fuzz(func(t *testing.T, data []byte) {
		fault := v.check(data)
		if fault == nil {
			return
		}
		if _, again := reported.LoadOrStore(fault.summary(), true); again {
			t.Errorf("as before: %s", fault.summary())
			return
		}
		t.Error(fault.report())
	})
}

func seed(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15+1) }

// check returns the first fault of the objects made from data, shrunk, or nil.
func (v *Version[V, H]) check(data []byte) *fault {
	object := v.New()
	v.fill(object, data)
	found := examine(object, v.checks())
	if found == nil && v.ToHub != nil {
		hub := v.NewHub()
		v.fill(hub, data)
		found = examine(hub, v.hubChecks())
	}
	return found
}

// check is one property of objects. run returns why an object doesn't have it, or "".
type check[T runtime.Object] struct {
	name string
	run  func(T) difference
	// remedy is as of a fault.
	remedy string
}

// lossy is the remedy for a conversion that loses fields.
const lossy = "\nif a conversion is to lose it: +apigen:conversion:drop at the field, or +apigen:conversion:prune " +
	"above the package clause of the version"

// errRefused means that a conversion refused the object, which loses nothing.
var errRefused = errors.New("the conversion refuses the object")

func (v *Version[V, H]) checks() []check[V] {
	all := []check[V]{
		{name: "JSON", run: codec(v.New, json.Marshal, json.Unmarshal)},
		{name: "YAML", run: codec(v.New, yaml.Marshal,
			func(data []byte, into any) error { return yaml.Unmarshal(data, into) })},
		{name: "CBOR", run: codec(v.New,
			func(obj any) ([]byte, error) { return direct.Marshal(obj) }, direct.Unmarshal)},
		{name: "its deep copy", run: copied[V]},
	}
	if v.Default != nil {
		all = append(all, check[V]{name: "its defaults, set twice", run: v.defaultedTwice})
	}
	if v.ToHub != nil {
		all = append(all, check[V]{"the way to the hub and back",
			func(obj V) difference { d, _ := v.throughHub(obj); return d }, lossy})
	}
	return all
}

func (v *Version[V, H]) hubChecks() []check[H] {
	return []check[H]{
		{name: "its deep copy", run: copied[H]},
		{"the way from the hub to the version and back",
			func(obj H) difference { d, _ := v.throughVersion(obj); return d }, lossy},
	}
}

// codec is the property that encoding and decoding an object doesn't change it.
func codec[T runtime.Object](empty func() T, encode func(any) ([]byte, error),
	decode func([]byte, any) error) func(T) difference {
	return func(obj T) difference {
		data, err := encode(obj)
		if err != nil {
			return failed("it can't be encoded", err)
		}
		out := empty()
		if err := decode(data, out); err != nil {
			return failed("what was encoded can't be decoded", err)
		}
		return compare(obj, out)
	}
}

func copied[T runtime.Object](obj T) difference {
	out := obj.DeepCopyObject()
	if d := compare(obj, out); d.found() {
		return d
	}
	return shared(obj, out)
}

func (v *Version[V, H]) defaultedTwice(obj V) difference {
	once := clone(obj)
	v.Default(once)
	twice := clone(once)
	v.Default(twice)
	return compare(once, twice)
}

func (v *Version[V, H]) throughHub(obj V) (difference, error) {
	in := clone(obj)
	if v.Default != nil {
		v.Default(in)
	}
	v.prepare(in)
	return thereAndBack(in, v.New(), v.NewHub(), v.ToHub, v.FromHub)
}

func (v *Version[V, H]) throughVersion(obj H) (difference, error) {
	in := clone(obj)
	v.prepare(in)
	return thereAndBack(in, v.NewHub(), v.New(), v.FromHub, v.ToHub)
}

func thereAndBack[A, B runtime.Object](in, out A, between B, there func(A, B) error, back func(B, A) error) (
	difference, error) {
	if there(clone(in), between) != nil {
		return difference{}, errRefused
	}
	if err := back(between, out); err != nil {
		return failed("what was converted can't be converted back", err), nil
	}
	return compare(in, out), nil
}

// refusesAll reports conversions that refuse the objects of all seeds, so that the test would test nothing.
func (v *Version[V, H]) refusesAll() []string {
	if v.ToHub == nil {
		return nil
	}
	passed := map[string]int{}
	for i := range seeds {
		object, hub := v.New(), v.NewHub()
		v.fill(object, seed(i))
		v.fill(hub, seed(i))
		if _, err := v.throughHub(object); err == nil {
			passed["to"]++
		}
		if _, err := v.throughVersion(hub); err == nil {
			passed["from"]++
		}
	}
	var out []string
	for _, way := range []string{"to", "from"} {
		if passed[way] == 0 {
			out = append(out, fmt.Sprintf("%T: the conversion %s the hub refused all of %d objects: add a filler for "+
				"the values that it wants to roundTripFillers, in a test file of this package", v.New(), way, seeds))
		}
	}
	return out
}

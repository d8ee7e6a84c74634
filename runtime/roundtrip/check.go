package roundtrip

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"sigs.k8s.io/yaml"
)

// check is one property of objects. run returns why an object doesn't have it, or "".
type check[T runtime.Object] struct {
	name string
	run  func(T) difference
}

// errRefused means that a conversion refused the object, which loses nothing.
var errRefused = errors.New("the conversion refuses the object")

func (v *Version[V, H]) checks() []check[V] {
	all := []check[V]{
		{"JSON", codec(v.New, json.Marshal, json.Unmarshal)},
		{"YAML", codec(v.New, yaml.Marshal, func(data []byte, into any) error { return yaml.Unmarshal(data, into) })},
		{"CBOR", codec(v.New, func(obj any) ([]byte, error) { return direct.Marshal(obj) }, direct.Unmarshal)},
		{"its deep copy", copied[V]},
	}
	if v.Default != nil {
		all = append(all, check[V]{"its defaults, set twice", v.defaultedTwice})
	}
	if v.ToHub != nil {
		all = append(all, check[V]{"the way to the hub and back",
			func(obj V) difference { d, _ := v.throughHub(obj); return d }})
	}
	return all
}

func (v *Version[V, H]) hubChecks() []check[H] {
	return []check[H]{
		{"its deep copy", copied[H]},
		{"the way from the hub to the version and back",
			func(obj H) difference { d, _ := v.throughVersion(obj); return d }},
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

// throughHub converts an object, with its defaults, to the hub and back.
func (v *Version[V, H]) throughHub(obj V) (difference, error) {
	in := clone(obj)
	if v.Default != nil {
		v.Default(in)
	}
	v.prepare(in)
	return thereAndBack(in, v.New(), v.NewHub(), v.ToHub, v.FromHub)
}

// throughVersion converts a hub object to the version and back.
func (v *Version[V, H]) throughVersion(obj H) (difference, error) {
	in := clone(obj)
	v.prepare(in)
	return thereAndBack(in, v.NewHub(), v.New(), v.FromHub, v.ToHub)
}

// thereAndBack converts in to between, and that to out, and compares the two.
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

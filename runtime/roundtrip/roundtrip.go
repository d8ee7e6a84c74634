// Package roundtrip is called by generated tests of conversions and codecs. It fills objects of a kind at random, and
// converts them to the hub and back, encodes them as JSON, YAML and CBOR, copies them and sets their defaults. It
// shrinks an object that comes back different to the smallest one that shows the fault. It is for tests alone, works by
// reflection, and knows apimachinery and nothing of ours.
package roundtrip

import (
	"encoding/binary"
	"reflect"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// Version is a kind in one version: V is the pointer to its Go type, H the pointer to the hub's Go type. Generated
// tests fill it in.
type Version[V, H runtime.Object] struct {
	// New and NewHub return empty objects.
	New    func() V
	NewHub func() H
	// Default sets the defaults of the version; nil where it has none.
	Default func(V)
	// ToHub and FromHub convert. Both are nil where the version is the hub.
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
	for _, c := range v.checks() {
		if found := examine(object, c); found != nil {
			return found
		}
	}
	if v.ToHub == nil {
		return nil
	}
	hub := v.NewHub()
	v.fill(hub, data)
	for _, c := range v.hubChecks() {
		if found := examine(hub, c); found != nil {
			return found
		}
	}
	return nil
}

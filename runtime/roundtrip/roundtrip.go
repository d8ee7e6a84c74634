// Package roundtrip holds what generated tests of conversions and codecs call: objects of a kind are filled at random and
// sent there and back, as JSON, YAML and CBOR, by way of the hub, through their copies and defaults. What comes back
// different is shrunk to the smallest object that shows the fault. It is for tests alone, works by reflection, and knows
// apimachinery and nobody else.
package roundtrip

import (
	"encoding/binary"
	"reflect"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// Version is a kind in one version: V is the pointer to its Go type, H the pointer to that of the hub. Generated tests
// fill it in.
type Version[V, H runtime.Object] struct {
	// New and NewHub return empty objects.
	New    func() V
	NewHub func() H
	// Default fills in what the version defaults. Nil where it defaults nothing.
	Default func(V)
	// ToHub and FromHub convert. Both are nil where the version is the hub.
	ToHub   func(in V, out H) error
	FromHub func(in H, out V) error
	// Dropped are fields, of the version and of the hub, that conversions lose on purpose: they are empty in the objects that
	// are converted. NeverNil are pointers that the other side holds as values, where nil and zero are the same: they are
	// filled.
	Dropped, NeverNil []Field
	// Values are slices: what values of their element's type are taken from.
	Values []any
	// Fillers are functions func(*T, randfill.Continue), which fill values of a type that can't be any.
	Fillers []any
}

// Field names a field of a struct.
type Field struct {
	Struct reflect.Type
	Name   string
}

// FieldOf names a field of the struct S.
func FieldOf[S any](name string) Field { return Field{reflect.TypeFor[S](), name} }

// seeds is how many objects a test without -fuzz makes.
const seeds = 16

// Fuzz is the body of a fuzz test: it adds a few seeds, which run in a fraction of a second, and checks objects made of
// them and of what `go test -fuzz` comes up with.
//
// A conversion may refuse an object by an error: then nothing is lost, and another one is tried. Where all of the seeds are
// refused in one direction, the test fails.
func Fuzz[V, H runtime.Object](f *testing.F, v Version[V, H]) {
	f.Helper()
	for i := range seeds {
		f.Add(seed(i))
	}
	for _, why := range v.refusesAll() {
		f.Error(why)
	}
	var told sync.Map // each fault is told once
	f.Fuzz(func(t *testing.T, data []byte) {
		fault := v.check(data)
		if fault == nil {
			return
		}
		if _, again := told.LoadOrStore(fault.summary(), true); again {
			t.Errorf("as before: %s", fault.summary())
			return
		}
		t.Error(fault.report())
	})
}

func seed(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15+1) }

// check returns the first fault of the objects made of data, shrunk, or nil.
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

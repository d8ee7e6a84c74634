package deepcopy

import (
	"testing"

	"apigen.dev/generator/internal/model"
)

// TestLockInWhatHoldsItself checks that the search for locks ends in a type without a size, which the compiler reports.
func TestLockInWhatHoldsItself(t *testing.T) {
	endless := &model.Type{Name: "Endless", Form: model.Struct}
	endless.Fields = []*model.Field{{Name: "Again", Type: endless}}
	if lock := lockIn(endless); lock != nil {
		t.Errorf("found %s", lock.Name)
	}
	mutex := &model.Type{Name: "Mutex", Form: model.Struct, Package: &model.Package{Path: "sync"}}
	endless.Fields = append(endless.Fields,
		&model.Field{Name: "Lock", Type: &model.Type{Form: model.Array, Len: 2, Elem: mutex}})
	if lock := lockIn(endless); lock != mutex {
		t.Errorf("found %v", lock)
	}
}

package validation

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/operation"

	shop "apigen.dev/generator/internal/emit/validation/testdata/shop/v1"
)

// TestEntriesComeInOrder: errors of the entries of a map have the same order each time.
func TestEntriesComeInOrder(t *testing.T) {
	d := &shop.Declarative{Map: map[string]int32{}}
	c := &shop.CRD{ByName: map[string]*shop.Port{}}
	for i := range 20 {
		d.Map[fmt.Sprintf("a.%02d", i)] = 0
		c.ByName[fmt.Sprintf("%02d", i)] = &shop.Port{Number: -1}
	}
	create := operation.Operation{Type: operation.Create}
	for range 5 {
		var keys, pointers []string
		for _, e := range shop.Validate_Declarative(context.Background(), create, nil, d, nil) {
			if len(e.Field) >= 3 && e.Field[:3] == "map" && e.Field != "map" {
				keys = append(keys, e.Field)
			}
		}
		for _, e := range shop.Validate_CRD(context.Background(), create, nil, c, nil) {
			if len(e.Field) > 7 && e.Field[:7] == "byName[" {
				pointers = append(pointers, e.Field)
			}
		}
		if len(keys) != 20 || !slices.IsSorted(keys) {
			t.Errorf("got %v", keys)
		}
		if len(pointers) != 20 || !slices.IsSorted(pointers) {
			t.Errorf("got %v", pointers)
		}
	}
}

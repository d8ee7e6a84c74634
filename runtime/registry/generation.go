package registry

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/rendition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// setGeneration sets metadata.generation in an object and in its stored form.
func (e *storageEnd[T]) setGeneration(from *codec.Served[T], obj T, generation int64, data []byte) ([]byte, error) {
	obj.SetGeneration(generation)
	start, end, ok := rendition.MetadataMember(data, 1, "generation")
	if !ok {
		return e.encode(from, obj)
	}
	var digits [20]byte
	return slices.Concat(data[:start], strconv.AppendInt(digits[:0], generation, 10), data[end:]), nil
}

// differ tells whether two stored forms differ in a field whose changes metadata.generation counts.
func differ(a, b []byte) bool {
	var few [2][16][]byte // room for keys and values, so that they are on the stack
	x, y := specified(a, few[0][:0]), specified(b, few[1][:0])
	return !slices.EqualFunc(x, y, bytes.Equal)
}

// preservedFields is the prefix of annotations that preserve fields which only one version has.
const preservedFields = "apigen.dev/preserved-"

// preservedDiffer tells whether two objects differ in the fields that such annotations preserve.
func preservedDiffer(a, b metav1.Object) bool {
	x, y := a.GetAnnotations(), b.GetAnnotations()
	carried := func(annotations, others map[string]string) bool {
		for name, text := range annotations {
			if strings.HasPrefix(name, preservedFields) && others[name] != text {
				return true
			}
		}
		return false
	}
	return carried(x, y) || carried(y, x)
}

// specified appends the keys and values of a stored form whose changes metadata.generation counts.
func specified(data []byte, to [][]byte) [][]byte {
	rendition.Members(data, 1, func(key []byte, start, end int) bool {
		switch string(key) {
		case "metadata", "status", "kind", "apiVersion":
		default:
			to = append(to, key, data[start:end])
		}
		return true
	})
	return to
}

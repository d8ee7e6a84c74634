package omission

import (
	"encoding/json"
	"reflect"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// TestValue: the view of a Go value has what is left of its JSON, by whichever method it is read.
func TestValue(t *testing.T) {
	shape := Of(reflect.TypeFor[*object]())
	for _, c := range specs {
		o := &object{Spec: c.of}
		whole, err := value.NewValueReflect(o)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		want, err := value.FromJSON(shape.Omit(data))
		if err != nil {
			t.Fatal(err)
		}
		got := shape.Value(whole)
		if !value.Equals(value.NewValueInterface(got.Unstructured()), want) {
			t.Errorf("%+v: %v, want %v", c.of, value.ToString(got), value.ToString(want))
		}
		if !value.Equals(got, want) || !value.Equals(want, got) || !value.Equals(got, shape.Value(whole)) {
			t.Errorf("%+v: the view isn't equal to what is left", c.of)
		}
		if full := value.NewValueInterface(whole.Unstructured()); !value.Equals(full, want) && value.Equals(got, full) {
			t.Errorf("%+v: the view is equal to the whole value", c.of)
		}
	}
}

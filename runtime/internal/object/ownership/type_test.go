package ownership

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

type meter struct {
	metav1.TypeMeta `json:",inline"`
	Count           *uint64 `json:"count,omitempty"`
}

func (m *meter) DeepCopyObject() runtime.Object { out := *m; return &out }

// TestUnsigned checks that field ownership is tracked of objects that hold a uint64.
func TestUnsigned(t *testing.T) {
	count := uint64(7)
	m := &meter{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Meter"}, Count: &count}
	value, err := new(Type{parseable: typed.DeducedParseableType}).ObjectToTyped(m)
	if err != nil {
		t.Fatal(err)
	}
	set, err := value.ToFieldSet()
	if err != nil || set.String() != ".apiVersion\n.count\n.kind" {
		t.Errorf("%v, %v", set, err)
	}
}

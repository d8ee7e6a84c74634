package ownership

import (
	"reflect"
	"testing"

	"apigen.dev/runtime/internal/object/omission"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

type board struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              boardPart         `json:"spec,omitempty"`
	Data              map[string]string `json:"data,omitempty"`
	Status            *boardPart        `json:"status,omitempty"`
	secret            string
}

type boardPart struct {
	Name  string   `json:"name"`
	Width int32    `json:"width,omitempty"`
	Rows  []string `json:"rows,omitempty"`
}

func (b *board) DeepCopyObject() runtime.Object { out := *b; return &out }

// TestDiffering: a comparison finds the same differences without the members that are equal, what a client sent in the
// place of zero values among them.
func TestDiffering(t *testing.T) {
	types := &Type{parseable: typed.DeducedParseableType}
	types.Omit(omission.FormOf(reflect.TypeFor[*board](), omission.Rules{}))
	form := types.form
	read := func(body string, b *board) *board {
		form.Complete(b, []byte(body), nil)
		return b
	}
	objects := []*board{
		{}, {secret: "a"}, {Spec: boardPart{Name: "a"}}, {Spec: boardPart{Name: "a", Rows: []string{"x"}}},
		{Spec: boardPart{Name: "a"}, Data: map[string]string{"a": "b"}},
		{Spec: boardPart{Name: "a"}, Data: map[string]string{"a": "b", "c": "d"}, Status: &boardPart{}},
		{Spec: boardPart{Name: "b"}, Status: &boardPart{Width: 3}},
		{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Status: &boardPart{Width: 3}},
		read(`{"spec":{"name":"","width":0}}`, &board{}), read(`{"spec":{"name":""}}`, &board{}),
		read(`{"spec":{"name":"","width":0},"status":{}}`, &board{Status: &boardPart{}}),
		read(`{"spec":{"width":0},"data":{}}`, &board{Data: map[string]string{}}), read(`{"spec":{}}`, &board{}),
	}
	for i, one := range objects {
		for j, other := range objects {
			before, err := types.ObjectToTyped(one.DeepCopyObject(), typed.AllowDuplicates)
			if err != nil {
				t.Fatal(err)
			}
			after, err := types.ObjectToTyped(other.DeepCopyObject(), typed.AllowDuplicates)
			if err != nil {
				t.Fatal(err)
			}
			want, err := before.Compare(after)
			if err != nil {
				t.Fatal(err)
			}
			got, err := compare(before, after)
			if err != nil || got.String() != want.String() {
				t.Errorf("%d and %d: %v, want %v (%v)", i, j, got, want, err)
			}
			if rest, _ := differing(before, after); i == j && !rest.AsValue().(*partValue).omitted["spec"] {
				t.Errorf("%d: an equal spec is compared", i)
			}
		}
	}
}

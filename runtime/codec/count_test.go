package codec

import (
	"context"
	"fmt"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/fault"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mast has members that are counted.
type mast struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Hue               string     `json:"hue,omitempty"`
	Top               mastPart   `json:"top,omitempty"`
	Base              mastPart   `json:"base"`
	More              []mastPart `json:"more,omitempty"`
}

type mastPart struct {
	Foot string `json:"foot,omitempty"`
	Head int32  `json:"head,omitempty"`
}

func (m *mast) DeepCopyObject() runtime.Object {
	out := *m
	return &out
}

// TestCounts: where a client sent zero values, members are counted in JSON, in place of the Go value. An update may
// leave as it is what has too few or too many already. Other faults keep how many of several there are from being
// checked.
func TestCounts(t *testing.T) {
	const one = "exactly one of the fields in [foot head] must be set"
	all, err := Kind[*mast]{
		Group: "g.example.com", Kind: "Mast", New: func() *mast { return &mast{} },
		Versions: []Version[*mast]{VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*mast, *mast]{
			New: func() *mast { return &mast{} }, Custom: true,
			Validate: func(ctx context.Context, _ operation.Operation, obj, _ *mast) (errs field.ErrorList) {
				path := field.NewPath("top")
				if (obj.Top.Foot == "") == (obj.Top.Head == 0) { // as generated code counts
					errs = append(errs, field.Invalid(path, "object", one))
				}
				if obj.Hue == "" {
					errs = append(errs, field.Required(field.NewPath("hue"), ""))
				}
				if len(obj.More) == 1 { // all of its members are written in Go
					errs = append(errs, field.TooMany(field.NewPath("more").Index(0), 2, 1))
				}
				if errs = AddFaults(ctx, errs); fault.Blocks(errs) { // as rules in CEL
					errs = fault.Unchecked(errs)
				}
				return errs
			},
			Sent: func() *Sent {
				return &Sent{Members: map[string]*Sent{
					"top":  (&Sent{}).Counting(Count{Of: []string{"foot", "head"}, Least: 1, Most: 1, Fault: one}),
					"base": {Counts: []Count{{Of: []string{"foot"}, Least: 1, Most: -1, Fault: "no foot"}}},
					"more": {Elem: &Sent{Counts: []Count{{Least: 1, Most: -1}, {Most: 1}}}},
				}}
			},
		})},
	}.Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	const few = "in body should have at least 1 properties"
	unchecked := fault.Unchecked(nil)[0].Error()
	for _, c := range []struct{ body, old, want string }{
		{`{"hue":"red","top":{"foot":"a"}}`, "", "[]"},
		{`{"hue":"red","top":{"foot":""}}`, "", "[]"},
		{`{"hue":"red","top":{"foot":"a"},"base":{}}`, "", `[base: Invalid value: "object": no foot]`},
		{`{"hue":"red","top":{"foot":"a"},"base":{"foot":""}}`, "", "[]"},
		{`{"hue":"red","top":{}}`, "", `[top: Invalid value: "object": ` + one + "]"},
		{`{"hue":"red","top":{"foot":"","head":0}}`, "", `[top: Invalid value: "object": ` + one + "]"},
		{`{"hue":"red","top":{"foot":"","head":3}}`, "", `[top: Invalid value: "object": ` + one + "]"},
		{`{"hue":"red","top":{"foot":"","head":3}}`, `{"top":{"foot":"","head":3}}`, "[]"},
		{`{"hue":"red","top":{"foot":"","head":3}}`, `{"top":{"foot":"","head":4}}`,
			`[top: Invalid value: "object": ` + one + "]"},
		{`{"hue":"red","top":{"foot":""},"more":[{"foot":""}]}`, "", "[]"},
		{`{"top":{"foot":"","head":3}}`, "", "[hue: Required value " + unchecked + "]"},
		{
			`{"hue":"red","top":{"foot":""},"more":[{},{"foot":"","head":0},{"foot":""}]}`, "",
			"[more[0]: Invalid value: 0: more[0] " + few + " more[1]: Too many: 2: must have at most 1 item " +
				unchecked + "]",
		},
	} {
		read := func(body string) *mast {
			data := []byte(`{"apiVersion":"g.example.com/v1","kind":"Mast",` + body[1:])
			obj, _, err := all.Served[0].DecodeBody(&mast{}, verb.Body{Version: "v1", Data: data})
			if err != nil {
				t.Fatal(err)
			}
			return obj
		}
		var old **mast
		if c.old != "" {
			before := read(c.old)
			old = &before
		}
		errs, err := all.Served[0].Validate(t.Context(), operation.Operation{}, read(c.body), old)
		if got := fmt.Sprint(errs); err != nil || got != c.want {
			t.Errorf("%s after %s: %s, want %s (%v)", c.body, c.old, got, c.want, err)
		}
	}
}

package builtin_test

import (
	"strings"
	"testing"

	"apigen.dev/runtime/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestRulesOfLargeObjects: the rules of a definition share one budget for a write, however many values they are about
// and however deep these are, and its end is one error.
func TestRulesOfLargeObjects(t *testing.T) {
	t.Parallel()
	text := &cel.Schema{Type: "string", Rules: []cel.Rule{{
		Rule: "['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].all(x, x != self + self)", Message: "no letter",
	}}}
	many := make([]any, 375_000) // 1.5 MB of JSON
	for i := range many {
		many[i] = "a"
	}
	deep := &cel.Schema{Type: "array", Items: text}
	var value any = many
	for range 50 {
		deep = &cel.Schema{
			Type: "object", Properties: map[string]*cel.Schema{"a": deep},
			Rules: []cel.Rule{{Rule: "has(self.a)", Message: "nothing below"}},
		}
		value = map[string]any{"a": value}
	}
	rules := cel.New(schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "Thing"},
		&cel.Schema{Type: "object", Properties: map[string]*cel.Schema{"spec": deep}})
	object := map[string]any{"spec": value}
	errs := rules.Run(t.Context(), object, nil)
	if len(errs) != 1 || !strings.Contains(errs[0].Detail, "running out of cost budget") {
		t.Errorf("%d errors: %.300v", len(errs), errs)
	}
}

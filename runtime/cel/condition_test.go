package cel

import (
	"strings"
	"testing"
)

func TestConditions(t *testing.T) {
	names := &Schema{Type: "object", Properties: map[string]*Schema{
		"namespace": text, "verb": text, "a-b": text,
		"labels": {Type: "object", Values: &Schema{Type: "array", Items: text}},
		"parts":  {Type: "array", Items: &Schema{Type: "object", Properties: map[string]*Schema{"namespace": text}}},
	}}
	conditions, err := NewConditions("request", "example.Request", names)
	if err != nil {
		t.Fatal(err)
	}
	value := map[string]any{
		"namespace": "ns", "labels": map[string][]string{"k": {"v"}},
		"parts": []any{map[string]any{"namespace": "x"}},
	}
	for text, want := range map[string]string{
		"request.namespace == 'ns'":                   "true",
		"request.namespace != 'ns'":                   "false",
		"'v' in request.labels['k']":                  "true",
		"request.parts.exists(p, p.namespace == 'x')": "true",
		"has(request.verb)":                           "false",
		"request.verb == 'get'":                       "resulted in error: no such key: verb",
		"request.namespace":                           "must evaluate to bool but got string",
		"request.other == ''":                         "undefined field 'other'",
		"x == ''":                                     "undeclared reference to 'x'",
		"request.":                                    "Syntax error",
		"":                                            "Syntax error",
		"request.namespace.matches('(')":              "compilation failed",
		"request.labels['k'].all(a, " + deep("a", 6) + ")":      "true",
		"request.__namespace__ == 'ns'":                         "undefined field '__namespace__'",
		"[1,2,3,4,5,6,7,8,9,10]" + nested(8) + ".size() > 1000": "cost limit exceeded",
	} {
		got := ""
		condition, err := conditions.Compile(text)
		if err == nil {
			var holds bool
			holds, err = condition.Holds(t.Context(), value)
			got = map[bool]string{true: "true", false: "false"}[holds]
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if _, err := NewConditions("request", "x", &Schema{}); err == nil {
		t.Error("a variable without a type is accepted")
	}
}

func deep(name string, n int) string {
	return strings.Repeat("(", n) + name + " == 'v'" + strings.Repeat(")", n)
}

// nested is a macro that runs ten times for each element, n times over.
func nested(n int) string {
	if n == 0 {
		return ""
	}
	return ".map(x" + string(rune('a'+n)) + ", [1,2,3,4,5,6,7,8,9,10]" + nested(n-1) + ")"
}

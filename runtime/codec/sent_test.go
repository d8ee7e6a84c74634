package codec

import (
	"fmt"
	"testing"
)

// TestSentFaults: JSON that lacks required members, or has zero values that are refused, has faults at their paths,
// whatever its white space; text that is no JSON has none that would panic.
func TestSentFaults(t *testing.T) {
	part := &Sent{Required: []string{"name"}, Refused: map[string]Refusal{
		"size": {Supported: []string{"small"}}, "count": {Fault: "should be greater than 0"},
	}}
	rules := &Sent{Members: map[string]*Sent{"spec": {Members: map[string]*Sent{
		"part": part, "list": {Elem: part}, "map": {Elem: part},
	}}}}
	for body, want := range map[string]string{
		`{}`: "[]",
		` { "spec" : { "part" : { "name" : "" } } } `: "[]",
		`{"spec":{"part":{}}}`:                        "[spec.part.name: Required value]",
		`{"spec":{"part":{"name":null}}}`:             "[spec.part.name: Required value]",
		`{"spec":{"part":null}}`:                      "[]",
		`{"spec":{"list":[{"name":"a"},{}]}}`:         "[spec.list[1].name: Required value]",
		`{"spec":{"map":{"a":{}}}}`:                   "[spec.map[a].name: Required value]",
		`{"spec":{"part":{"name":"a","size":""}}}`: `[spec.part.size: Unsupported value: "": supported values: ` +
			`"small"]`,
		`{"spec":{"part":{"name":"a","count":0}}}`: "[spec.part.count: Invalid value: 0: spec.part.count in body " +
			"should be greater than 0]",
		`{"spec":{"part":{"name":"a","count":1,"size":"small"}}}`: "[]",
		`{"spec":[`: "[]",
	} {
		w := sentWalk{data: []byte(body)}
		w.value(rules, nil, skipSpace(w.data))
		if got := fmt.Sprint(w.errs); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

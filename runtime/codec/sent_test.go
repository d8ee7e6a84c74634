package codec

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestSentFaults: JSON that lacks required members, or has zero values that are refused, has faults at their paths,
// whatever its white space; text that is not JSON has none that would panic.
func TestSentFaults(t *testing.T) {
	part := &Sent{Required: []string{"name"}, Refused: map[string]Refusal{
		"size": {Supported: []string{"small"}}, "count": {Fault: "should be greater than 0"},
	}}
	wait := &Sent{Text: &Text{Pattern: regexp.MustCompile("s$"), MinLength: 2, MaxLength: 3}}
	port := &Sent{Text: &Text{Supported: []string{"http", "80"}}}
	rules := &Sent{Members: map[string]*Sent{"spec": {
		Members: map[string]*Sent{
			"part": part, "list": {Elem: part}, "map": {Elem: part}, "wait": wait, "port": port,
		},
		Refused: map[string]Refusal{"list": {Fault: "should have at least 1 items"}},
	}}}
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
		`{"spec":{"part":{"name":"a","count":-0.0}}}`: "[spec.part.count: Invalid value: 0: spec.part.count in body " +
			"should be greater than 0]",
		`{"spec":{"part":{"name":"a","size":false}}}`: `[spec.part.size: Unsupported value: false: supported values: ` +
			`"small"]`,
		`{"spec":{"part":{"name":"a","count":1,"size":"small"}}}`: "[]",
		`{"spec":[`:                             "[]",
		`{"spec":{"list":[{"name":"a"},null]}}`: "[]",

		`{"spec":{"list":[ ]}}`: "[spec.list: Invalid value: 0: spec.list in body should have at least 1 items]",
		`{"spec":{"wait":"1m"}}`: `[spec.wait: Invalid value: "1m": spec.wait in body should match ` +
			`'s$']`,
		`{"spec":{"wait":"s"}}`: `[spec.wait: Invalid value: "s": spec.wait in body should be at ` +
			`least 2 chars long]`,
		`{"spec":{"wait":"100s"}}`:              "[spec.wait: Too long: may not be more than 3 bytes]",
		`{"spec":{"wait":null,"port":"http"}}`:  "[]",
		`{"spec":{"wait":"\u0031s","port":80}}`: "[]",
		`{"spec":{"port":81}}`: `[spec.port: Unsupported value: "81": supported values: "http", ` +
			`"80"]`,
	} {
		if got := fmt.Sprint(rules.faults([]byte(body))); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// TestKeptTexts: an object has a text at its path, whichever item of a list has it.
func TestKeptTexts(t *testing.T) {
	object := map[string]any{"spec": map[string]any{
		"steps": []any{map[string]any{"wait": "60s"}, map[string]any{"wait": "5s"}},
		"map":   map[string]any{"a": "1s", "7": "60s"},
	}}
	kept := keptTexts{object, map[string]map[string]bool{}}
	for path, want := range map[string]bool{
		"spec.steps[0].wait": true, "spec.steps[1].wait": true, "spec.steps[7].wait": true, "spec.steps": false,
		"spec.map[a]": false, "spec.map[7]": true, "spec.map[8]": true, "spec.wait": false,
	} {
		if got := kept.has(steps(path), "60s"); got != want {
			t.Errorf("%s has 60s: %t", path, got)
		}
	}
}

// TestManyFaults: a member of an object has a bounded number of faults, and is refused with more, whatever it had
// before. Other members have theirs.
func TestManyFaults(t *testing.T) {
	list := &Sent{Elem: &Sent{Text: &Text{Pattern: regexp.MustCompile("s$")}}}
	rules := &Sent{Required: []string{"kind"}, Members: map[string]*Sent{
		"spec": list, "status": {Required: []string{"a"}},
	}}
	body := `{"spec":[` + strings.Repeat(`"1m",`, mostFaults) + `"1m"],"status":{}}`
	faults := rules.faults([]byte(body))
	if len(faults) != mostFaults+3 {
		t.Fatalf("%d faults", len(faults))
	}
	last := fmt.Sprint(faults[mostFaults:])
	want := "[spec: Forbidden: it has more than 10000 faults status.a: Required value kind: Required value]"
	if last != want {
		t.Errorf("the last faults are %s", last)
	}
}

// TestManyRequiredMembers: each of many required members counts.
func TestManyRequiredMembers(t *testing.T) {
	rules, all := &Sent{}, map[string]string{}
	for i := range 200 {
		name := fmt.Sprint("member", i)
		rules.Required, all[name] = append(rules.Required, name), "a"
	}
	body, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if faults := rules.faults(body); len(faults) > 0 {
		t.Error(faults)
	}
	if faults := rules.faults([]byte(`{"member199":"a"}`)); len(faults) != 199 {
		t.Errorf("%d members are missed", len(faults))
	}
}

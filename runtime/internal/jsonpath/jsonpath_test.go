package jsonpath_test

import (
	"encoding/json"
	"testing"

	"apigen.dev/runtime/internal/jsonpath"
)

const object = `{"spec": {"color": "red", "a.b": 1, "list": [{"n": 1, "s": "x"}, {"n": 2, "s": "y"}, {"n": 3}]},
"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Stale]", "status": "False", "ok": true}]}}`

func TestFind(t *testing.T) {
	var v any
	if err := json.Unmarshal([]byte(object), &v); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		".spec.color":               `["red"]`,
		"spec.color":                `["red"]`,
		"{.spec.color}":             `["red"]`,
		"$.spec.color":              `["red"]`,
		".spec['color']":            `["red"]`,
		`.spec["a.b"]`:              `[1]`,
		`.spec.a\.b`:                `[1]`,
		".spec.none.color":          `null`,
		".spec.list[0].n":           `[1]`,
		".spec.list[-1].n":          `[3]`,
		".spec.list[7].n":           `null`,
		".spec.list[*].n":           `[1,2,3]`,
		".spec.list.*.n":            `[1,2,3]`,
		".spec.list[1:].n":          `[2,3]`,
		".spec.list[:-1].n":         `[1,2]`,
		".spec.list[0:3:2].n":       `[1,3]`,
		".spec.list[0,2].n":         `[1,3]`,
		".spec.list[*]['n','s']":    `[1,"x",2,"y",3]`,
		".spec.list[?(@.n>1)].n":    `[2,3]`,
		".spec.list[?(@.s)].n":      `[1,2]`,
		`.spec.list[?(@.s!="x")].n`: `[2]`,
		"..n":                       `[1,2,3]`,
		".spec.list..s":             `["x","y"]`,
		".status.conditions[?(@.type==\"Ready\")].status":   `["True"]`,
		".status.conditions[?(@.type=='Stale]')].status":    `["False"]`,
		".status.conditions[?(@.ok==true)].type":            `["Stale]"]`,
		".status.conditions[?( @.type == 'Ready' )].status": `["True"]`,
	} {
		p, err := jsonpath.Parse(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		found, err := json.Marshal(p.Find(v))
		if err != nil || string(found) != want {
			t.Errorf("%s: %s, want %s (%v)", path, found, want, err)
		}
	}
}

func TestFields(t *testing.T) {
	for path, want := range map[string]bool{".spec.color": true, ".a[0]": false, ".a..b": false, ".a['b.c']": true} {
		p, err := jsonpath.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, simple := p.Fields(); simple != want {
			t.Errorf("%s: %v", path, simple)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, path := range []string{
		".a[", ".a[x]", ".a[1:2:3:4]", ".a[::0]", ".a b", ".a[?(@.b==)]", ".a[?(@.b==x)]", "]", ".a]",
	} {
		if _, err := jsonpath.Parse(path); err == nil {
			t.Errorf("%s was parsed", path)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, path := range []string{".a.b", ".a[?(@.b==\"c\")].d", "..x", ".a[1:2:3]", ".a['b','c']"} {
		f.Add(path)
	}
	var v any
	if err := json.Unmarshal([]byte(object), &v); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, path string) {
		if p, err := jsonpath.Parse(path); err == nil {
			p.Find(v)
		}
	})
}

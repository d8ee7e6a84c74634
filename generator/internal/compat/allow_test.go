package compat_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"apigen.dev/generator/internal/compat"
	"apigen.dev/generator/internal/model"
)

var found = []compat.Finding{
	{Rule: compat.Rule{ID: "FIELD_REMOVED", Level: compat.Break, Area: compat.Wire}, Level: compat.Break,
		Group: "shop.example.com", Version: "v1", Kind: "Widget", Path: "spec.ports[].name", Message: "name is gone",
		Pos: model.Position{Filename: "/new/v1/types.go", Line: 3, Column: 2},
		Old: model.Position{Filename: "/old/v1/types.go", Line: 4, Column: 2}},
	{Rule: compat.Rule{ID: "ENUM_VALUE_ADDED", Level: compat.Warn, Area: compat.Wire}, Level: compat.Warn,
		Group: "shop.example.com", Version: "v1", Kind: "Gadget", Path: "spec.color",
		Message: "the value \"a\",\n100% is new"},
}

// TestAllow: an entry removes the findings that it names, literally or by a pattern; entries that remove none are
// returned.
func TestAllow(t *testing.T) {
	for _, c := range []struct {
		subject string
		left    int
	}{
		{"shop.example.com/v1/Widget:spec.ports[].name", 1},
		{"shop.example.com/*/Widget:spec.*", 1},
		{"shop.example.com/v1/Gadget:spec.color", 2},
		{"shop.example.com/*:spec.*", 2},
		{"shop.example.com/*/*:*", 1},
		{"shop.example.com/*/W*:spec.*.name", 1},
		{"shop.example.com/*/W*:spec.*.nam", 2},
		{"*", 2},
	} {
		a, err := compat.ParseAllow("f.yaml",
			[]byte("allow:\n- rule: FIELD_REMOVED\n  subject: \""+c.subject+"\"\n  reason: never shipped\n"))
		if err != nil {
			t.Fatal(err)
		}
		left, idle := a.Filter(found)
		if len(left) != c.left || (len(idle) == 1) != (c.left == 2) {
			t.Errorf("%s left %d findings and %d idle entries", c.subject, len(left), len(idle))
		}
	}
}

// TestAllowRefusals: errors in an allow file name their lines.
func TestAllowRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"allow:\n- rule: FIELD_REMOVED\n  subject: a\n":   "f.yaml:2: the entry gives no reason",
		"allow:\n- rule: FIELD_REMOVED\n  reason: a\n":    "f.yaml:2: the entry names no subject",
		"allow:\n- rule: NO\n  subject: a\n  reason: a\n": `f.yaml:2: unknown rule "NO"`,
		"allow:\n- rules: NO\n":                           `f.yaml:2: unknown key "rules"`,
		"allow: 1\n":                                      "f.yaml:1: expected the key allow",
		"- a\n":                                           "f.yaml:1: expected the key allow",
		"allow:\n- a\n":                                   "f.yaml:2: expected an entry",
		"a: [\n":                                          "f.yaml: yaml",
		"allow: []\nb: 1":                                 "f.yaml:1: expected the key allow",
	} {
		if _, err := compat.ParseAllow("f.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	if a, err := compat.ParseAllow("f.yaml", nil); err != nil || len(a.Entries) != 0 {
		t.Errorf("an empty file: %v", err)
	}
}

// FuzzAllow: the parser reads or refuses any file.
func FuzzAllow(f *testing.F) {
	f.Add([]byte("allow:\n- rule: FIELD_REMOVED\n  subject: a\n  reason: b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if a, err := compat.ParseAllow("f.yaml", data); err == nil {
			a.Filter(found)
		}
	})
}

// TestPrint holds the three formats.
func TestPrint(t *testing.T) {
	p := compat.Printer{Dir: "/new", OldDir: "/old", Against: "v1.0.0"}
	var text, github, lines bytes.Buffer
	if err := p.Text(&text, found); err != nil {
		t.Fatal(err)
	}
	if err := p.GitHub(&github, found); err != nil {
		t.Fatal(err)
	}
	if err := p.JSON(&lines, found); err != nil {
		t.Fatal(err)
	}
	wantText := "v1/types.go:3:2: break: shop.example.com/v1/Widget:spec.ports[].name [FIELD_REMOVED] name is gone " +
		"(v1.0.0:v1/types.go:4:2)\n" +
		"warn: shop.example.com/v1/Gadget:spec.color [ENUM_VALUE_ADDED] the value \"a\",\n100% is new\n"
	if text.String() != wantText {
		t.Errorf("text:\n%s", text.String())
	}
	wantGitHub := "::error file=v1/types.go,line=3,col=2,title=FIELD_REMOVED::shop.example.com/v1/Widget:" +
		"spec.ports[].name: name is gone\n" +
		"::warning title=ENUM_VALUE_ADDED::shop.example.com/v1/Gadget:spec.color: the value \"a\",%0A100%25 is new\n"
	if github.String() != wantGitHub {
		t.Errorf("github:\n%s", github.String())
	}
	first := map[string]string{}
	if err := json.NewDecoder(&lines).Decode(&first); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"id": "FIELD_REMOVED", "level": "break", "area": "wire",
		"path": "spec.ports[].name", "position": "v1/types.go:3:2", "oldPosition": "v1/types.go:4:2"} {
		if first[key] != want {
			t.Errorf("json: %s is %q, want %q", key, first[key], want)
		}
	}
}

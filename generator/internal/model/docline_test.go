package model

import "testing"

// TestDocLine: a line that readers of doc comments would leave out, or take for a marker, gets a backslash, and loses
// it again.
func TestDocLine(t *testing.T) {
	for _, c := range []struct{ text, comment string }{
		{"", ""},
		{`\`, `\`},
		{"Some text + more.", "Some text + more."},
		{"-- two dashes", "-- two dashes"},
		{"* item", "* item"},
		{`\* item`, `\* item`},
		{"+ item", `\+ item`},
		{"+optional", `\+optional`},
		{`\+optional`, `\\+optional`},
		{`\\+optional`, `\\\+optional`},
		{"TODO: more", `\TODO: more`},
		{"---", `\---`},
		{"  +optional", `  \+optional`},
		{"\t+optional", "\t\\+optional"},
		{"\u00a0+optional", "\u00a0\\+optional"},
		{"* +optional", `\* +optional`},
		{" ** * +optional", ` \** * +optional`},
	} {
		if got := EscapeDocLine(c.text); got != c.comment {
			t.Errorf("%q is written as %q, want %q", c.text, got, c.comment)
		}
		if got := UnescapeDocLine(c.comment); got != c.text {
			t.Errorf("%q is read as %q, want %q", c.comment, got, c.text)
		}
	}
	if got := UnescapeDocLine("+optional"); got != "+optional" {
		t.Errorf("a line without a backslash is read as %q", got)
	}
}

package reference

import "testing"

// TestEscapedLines: a line behind a backslash is shown without it, and the others that markers and dashes begin are
// not shown.
func TestEscapedLines(t *testing.T) {
	for _, test := range []struct{ doc, want string }{
		{"One.\n+ two\nTODO: three\n---\nNot seen.", "One."},
		{"One.\n\\+ two\n\\TODO: three\n\\---\nSeen.", "One. + two TODO: three --- Seen."},
		{"One:\n\\* +two", "One:\n\n  - \\+two"},
		{"A \\ in a line.\n\\two", "A \\\\ in a line. \\\\two"},
	} {
		if got := parse(test.doc).Markdown(); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.doc, got, test.want)
		}
	}
}

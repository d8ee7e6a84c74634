package crd

import "testing"

func TestDescription(t *testing.T) {
	for _, test := range []struct{ doc, want string }{
		{"", ""},
		{"One\nline.", "One\nline."},
		{"One.\n+ two\nTODO: three\n  + four\n---\nNot seen.", "One.\n  + four"},
		{"```\n+ one\n---\nTODO\n```", "```\n+ one\n---\nTODO\n```"},
		{"One.\n\\+ two\n\\TODO: three\n  \\+ four\n\\---\nSeen.", "One.\n+ two\nTODO: three\n  + four\n---\nSeen."},
		{"```\n\\+ one\n\\---\n```\n\\\\+ two\n\\two", "```\n+ one\n---\n```\n\\+ two\n\\two"},
	} {
		if got := description(test.doc); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.doc, got, test.want)
		}
	}
}

package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for name, c := range map[string]struct {
		want, got string
		matches   bool
	}{
		"equal":                 {"a\nb", "a\nb", true},
		"another line":          {"a\nb", "a\nc", false},
		"a line more":           {"a", "a\nb", false},
		"a line less":           {"a\nb", "a", false},
		"any text":              {"age ... s", "age 12 s", true},
		"any text in one line":  {"age ...", "age 12\nname", false},
		"any lines":             {"a\n...\nz", "a\nb\nc\nz", true},
		"no lines are any":      {"a\n...", "a", true},
		"blanks at the end":     {"a", "a  ", true},
		"patterns are no regex": {"a.c", "abc", false},
	} {
		err := Match(strings.Split(c.want, "\n"), strings.Split(c.got, "\n"))
		if (err == nil) != c.matches {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRun runs a page whose commands share a folder, variables and jobs, and one whose output or status is wrong.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	text := "# Title\n\n<!-- transcript: here -->\n```console\n$ mkdir a && cd a\n$ export B=c\n$ echo $B; pwd\nc\n" +
		".../a\n$ false\n" +
		"[exit status 1]\n$ tail -f /dev/null &\n$ kill %1; wait %1\n...\n[exit status 143]\n$ printf f\nf\n" +
		"$ printf 'g\\n\\n'\ng\n\n```\n"
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	blocks, err := Blocks(page)
	if err != nil || len(blocks) != 1 || blocks[0].Directory != "here" || blocks[0].Heading != "Title" {
		t.Fatalf("%+v %v", blocks, err)
	}
	shell, err := Start(t.Context(), dir, filepath.Join(dir, "log"), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	defer shell.Close()
	for _, step := range blocks[0].Steps() {
		if err := shell.Run(t.Context(), step); err != nil {
			t.Errorf("line %d: %v", step.Line, err)
		}
	}
	for _, wrong := range []Step{
		{Command: "echo a", Want: []string{"b"}, Status: "0"},
		{Command: "false", Status: "0"},
		{Command: "echo a \\\\", Want: []string{"a"}, Status: "0"},
	} {
		if shell.Run(t.Context(), wrong) == nil {
			t.Errorf("%+v passes", wrong)
		}
	}
}

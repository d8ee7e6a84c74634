package controllers

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the answers of the scripts anew")

// step is a command of a script, with what is said about it and what it prints.
type step struct {
	comment, command, output string
}

// parse reads a script: lines that begin with "$ " are commands, those after it with "> " go on with them, lines with
// "# " are comments, and all others are what a command prints.
func parse(text string) (steps []step) {
	var comment string
	for line := range strings.Lines(text) {
		switch last := len(steps) - 1; {
		case strings.HasPrefix(line, "# "), line == "\n":
			comment += line
		case strings.HasPrefix(line, "$ "):
			steps, comment = append(steps, step{comment: comment, command: line[2:]}), ""
		case strings.HasPrefix(line, "> "):
			steps[last].command += line[2:]
		default:
			steps[last].output += line
		}
	}
	return steps
}

// String returns the step as it stands in a script.
func (s step) String() string {
	command := strings.ReplaceAll(strings.TrimSuffix(s.command, "\n"), "\n", "\n> ")
	return s.comment + "$ " + command + "\n" + s.output
}

func TestParse(t *testing.T) {
	const text = "# one\n$ cat <<EOF\n> a\n> EOF\na\n\n# two\n$ true\n"
	steps := parse(text)
	if len(steps) != 2 || steps[0].command != "cat <<EOF\na\nEOF\n" || steps[0].output != "a\n" {
		t.Fatalf("%+v", steps)
	}
	if again := steps[0].String() + steps[1].String(); again != text {
		t.Errorf("it is written as %q", again)
	}
}

// play runs the commands of testdata/NAME.txt in a shell as the administrator, with variables, and compares what they
// print with what stands there.
func (c *controlplane) play(t *testing.T, name string, variables ...string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, s := range parse(string(text)) {
		got := c.shell(t, s.command, variables)
		if *update {
			s.output = got
		} else if got != s.output {
			t.Fatalf("$ %s\nprints\n%s\nwant\n%s", s.command, got, s.output)
		}
		all.WriteString(s.String())
	}
	if *update {
		if err := os.WriteFile(path, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (c *controlplane) shell(t *testing.T, script string, variables []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-c", script)
	command.Env = append(os.Environ(), append(variables, "KUBECONFIG="+c.kubeconfig)...)
	command.Dir = c.dir
	out, err := command.CombinedOutput()
	text := mask(string(out), variables...)
	if ctx.Err() != nil {
		t.Fatalf("$ %s\nends with %v after\n%s", script, ctx.Err(), text)
	}
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		return text + "[" + exit.String() + "]\n"
	} else if err != nil {
		t.Fatal(err)
	}
	return text
}

var (
	age   = regexp.MustCompile(`   (\d+[dhms]){1,2}\b`)
	stamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`)
	ends  = regexp.MustCompile(`\s*\n`)
	wide  = regexp.MustCompile(` {4,}`)
)

// mask replaces what differs from run to run: the values of variables, times, and the widths of columns. It drops blank
// lines, which a script has between its parts.
func mask(text string, variables ...string) string {
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		text = strings.ReplaceAll(text, value, "$"+name)
	}
	text = ends.ReplaceAllString(wide.ReplaceAllString(text, "   "), "\n")
	return age.ReplaceAllString(stamp.ReplaceAllString(text, "TIME"), "   AGE")
}

func TestMask(t *testing.T) {
	got := mask("NAME   AGE\na      3m2s   2026-01-02T03:04:05Z  \n\nb5s    12s http://a:1/ 1h0m0s\n", "URL=http://a:1")
	if want := "NAME   AGE\na   AGE   TIME\nb5s   AGE $URL/ 1h0m0s\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

package projects

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// buildApigen builds the command.
func buildApigen(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "apigen")
	must(t, ".", "go", "build", "-C", "../../..", "-o", path, "./cmd/apigen")
	return path
}

// download downloads a module in a version into the cache, and returns its folder there.
func download(t *testing.T, version string) string {
	t.Helper()
	var module struct{ Dir string }
	out := must(t, t.TempDir(), "go", "mod", "download", "-json", version)
	if err := json.Unmarshal([]byte(out), &module); err != nil || module.Dir == "" {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	return module.Dir
}

// copy copies the module, and makes the edits.
func (p project) copy(t *testing.T, source string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), p.name)
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	for _, e := range p.edits {
		e.make(t, dir)
	}
	return dir
}

// make replaces a text in a file below a folder, once.
func (e edit) make(t *testing.T, dir string) {
	t.Helper()
	name := filepath.Join(dir, filepath.FromSlash(e.file))
	text, err := os.ReadFile(name)
	if err != nil || !bytes.Contains(text, []byte(e.old)) {
		t.Fatalf("%s: %q is not there: %v", e.file, e.old, err)
	}
	if err := os.WriteFile(name, bytes.Replace(text, []byte(e.old), []byte(e.new), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

// step is a line of what apigen init says is left to do.
var step = regexp.MustCompile(`(?m)^  (go .*)$`)

// adopt makes a project that serves the kinds: apigen init, and the steps that it prints but the last, which serves. It
// returns the project's folder, the folder of the module with the samples, and the package that the last step runs.
func (p project) adopt(t *testing.T, apigen string) (dir, samples, command string) {
	t.Helper()
	source := download(t, p.module+"@"+p.version)
	if samples = source; p.manifests != "" {
		samples = download(t, p.manifests)
	}
	var said string
	switch {
	case len(p.serve) > 0:
		dir = filepath.Join(t.TempDir(), p.name)
		p.replace(t, dir, source)
		said = must(t, ".", apigen, "init", dir, "--module", "example.com/"+p.name, "--serve", p.served())
	default:
		dir = p.copy(t, source)
		said = must(t, dir, apigen, "init")
	}
	p.mark(t, dir)
	steps := step.FindAllStringSubmatch(said, -1)
	if len(steps) < 2 || !strings.HasPrefix(steps[len(steps)-1][1], "go run ") {
		t.Fatalf("apigen init printed no steps:\n%s", said)
	}
	for _, s := range steps[:len(steps)-1] {
		for command := range strings.SplitSeq(s[1], " && ") {
			p.follow(t, dir, strings.Fields(command))
		}
	}
	return dir, samples, strings.TrimPrefix(steps[len(steps)-1][1], "go run ")
}

// replace makes a module in dir that has an edited copy of the project in its place, if there are edits.
func (p project) replace(t *testing.T, dir, source string) {
	t.Helper()
	if len(p.edits) == 0 {
		return
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	must(t, dir, "go", "mod", "init", "example.com/"+p.name)
	must(t, dir, "go", "mod", "edit", "-replace", p.module+"="+p.copy(t, source))
}

// served is the argument of --serve: packages of the module in its version.
func (p project) served() string {
	packages := make([]string, len(p.serve))
	for i, path := range p.serve {
		packages[i] = p.module + "/" + path + "@" + p.version
	}
	return strings.Join(packages, ",")
}

// advice is the command that apigen names for modules that don't fit together.
var advice = regexp.MustCompile("(?:align them with|try) `([^`]*)`")

// follow runs a step. Where it fails, and says which command mends that, it runs that one, and the step again.
func (p project) follow(t *testing.T, dir string, command []string) {
	t.Helper()
	said, err := run(t, dir, command...)
	if mend := advice.FindStringSubmatch(said); err != nil && mend != nil {
		t.Logf("%s: %s", strings.Join(command, " "), mend[1])
		must(t, dir, strings.Fields(mend[1])...)
		said, err = run(t, dir, command...)
	}
	if err != nil && p.untidy != "" && strings.Contains(said, p.untidy) {
		said, err = run(t, dir, append(command, "-e")...)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, said)
	}
	if slices.Contains(command, "build") || slices.Contains(command, "generate") {
		t.Logf("%d warnings of apigen build", strings.Count(said, "warning:"))
	}
}

// must runs a command that has to succeed, and returns what it printed.
func must(t *testing.T, dir string, command ...string) string {
	t.Helper()
	said, err := run(t, dir, command...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, said)
	}
	return said
}

// run runs a command, and returns what it printed: its output, or both streams where the first is empty.
func run(t *testing.T, dir string, command ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod "+os.Getenv("GOFLAGS"), "PWD="+dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil || stdout.Len() == 0 {
		return stdout.String() + stderr.String(), errors.Join(err)
	}
	return stdout.String(), nil
}

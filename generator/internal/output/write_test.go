package output

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The changes of the tests below: one file is updated, one removed, two are created in folders that don't exist.
func killedChanges(dir string) []Change {
	return []Change{
		{Path: filepath.Join(dir, "a/one.go"), Old: []byte("one\n"), New: []byte("one, new\n")},
		{Path: filepath.Join(dir, "a/two.go"), Old: []byte("two\n")},
		{Path: filepath.Join(dir, "b/c/three.go"), New: []byte("three\n")},
		{Path: filepath.Join(dir, "b/four.go"), New: []byte("four\n")},
		{Path: filepath.Join(dir, "gone/five.go"), Old: []byte("five\n")},
		{Path: filepath.Join(dir, "six.go"), Old: []byte{}, New: []byte("six\n")},
	}
}

// killedAfter is the tree when all of it is written; a kill at the very end may leave the folder of a removed file.
const killedAfter = `./
a/
a/one.go "one, new\n"
b/
b/c/
b/c/three.go "three\n"
b/four.go "four\n"
go.mod "module example.com/test\n"
gone/
six.go "six\n"
`

func killedTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/test\n", "a/one.go": "one\n", "a/two.go": "two\n", "gone/five.go": "five\n",
		"six.go": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// tree is everything in a folder: files with their content, folders that are empty with a slash.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			fmt.Fprintf(&out, "%s/\n", rel)
			return nil
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %q\n", rel, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestMain is also the process that the test below kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("APIGEN_TEST_WRITE"); dir != "" {
		n, _ := strconv.Atoi(os.Getenv("APIGEN_TEST_KILL"))
		w := &writer{changes: killedChanges(dir), step: func() {
			if n--; n < 0 {
				self, _ := os.FindProcess(os.Getpid())
				_ = self.Kill()
				select {} // until it is dead
			}
		}}
		if err := w.run(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestKilledAnywhere kills a process between any two steps of a write. After the recovery of the next run, the tree is
// in its old state, or, once the journal is gone, holds all the files that the write was about.
func TestKilledAnywhere(t *testing.T) {
	dir := killedTree(t)
	before := tree(t, dir)
	for n := 0; ; n++ {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "APIGEN_TEST_WRITE="+dir, "APIGEN_TEST_KILL="+strconv.Itoa(n))
		out, err := cmd.CombinedOutput()
		_, left := os.Stat(filepath.Join(dir, journalName))
		if rerr := Recover(filepath.Join(dir, "a")); rerr != nil {
			t.Fatal(rerr)
		}
		if cmd.ProcessState.ExitCode() == 2 {
			t.Fatalf("%d: %s", n, out)
		}
		if left != nil { // the write was finished
			if n < 12 {
				t.Errorf("only %d steps were tried", n)
			}
			if d := cmp.Diff(killedAfter, tree(t, dir)); d != "" {
				t.Errorf("after a kill at the end (%v):\n%s", err, d)
			}
			return
		}
		if d := cmp.Diff(before, tree(t, dir)); d != "" {
			t.Errorf("killed at step %d:\n%s", n, d)
		}
	}
}

// TestRecoveryKeepsWhatUsersWrote: what was changed since a run was killed stays.
func TestRecoveryKeepsWhatUsersWrote(t *testing.T) {
	dir := killedTree(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "APIGEN_TEST_WRITE="+dir, "APIGEN_TEST_KILL=12")
	_ = cmd.Run()
	if _, err := os.Stat(filepath.Join(dir, journalName)); err != nil {
		t.Fatal("it was not killed in time")
	}
	if err := os.WriteFile(filepath.Join(dir, "a/one.go"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Recover(dir); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, dir); !strings.Contains(got, `a/one.go "mine\n"`) || !strings.Contains(got, `a/two.go "two\n"`) ||
		strings.Contains(got, "three") {
		t.Errorf("got\n%s", got)
	}
}

// TestHalfAJournal is of a run that had not begun to write.
func TestHalfAJournal(t *testing.T) {
	dir := killedTree(t)
	before := tree(t, dir)
	for _, text := range []string{
		"", "0123", string(seal([]byte(`{"Files":[{"Path":"a/one.go","Existed":true}]}`)))[:80],
		string(seal([]byte("[]"))),
	} {
		if err := os.WriteFile(filepath.Join(dir, journalName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Recover(dir); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff(before, tree(t, dir)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

// TestChangedMeanwhile: nothing is written over what somebody wrote while apigen ran.
func TestChangedMeanwhile(t *testing.T) {
	dir := killedTree(t)
	if err := os.WriteFile(filepath.Join(dir, "six.go"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	if err := Write(dir, killedChanges(dir)); err == nil ||
		!strings.Contains(err.Error(), "six.go was changed while apigen ran: run it again") {
		t.Errorf("got %v", err)
	}
	if d := cmp.Diff(before, tree(t, dir)); d != "" {
		t.Error(d)
	}
}

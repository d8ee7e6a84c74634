package reload

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/testbed"
)

// joined is a value for tests: the contents, unless one of them says that it is broken.
func joined(contents [][]byte) (string, error) {
	text := string(bytes.Join(contents, []byte("+")))
	if strings.Contains(text, "broken") {
		return "", errors.New("it is broken: " + text)
	}
	return text, nil
}

// Each step changes the files, and says what Reload makes of it.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	testbed.Write(t, a, "1")
	testbed.Write(t, b, "2")
	files, err := New(joined, a, b)
	if err != nil || files.Value() != "1+2" {
		t.Fatalf("%q, %v", files.Value(), err)
	}
	for _, step := range []struct {
		name, a, b, want string
		changed          bool
		err              string
	}{
		{"nothing new", "1", "2", "1+2", false, ""},
		{"one file", "1", "3", "1+3", true, ""},
		{"the other one", "2", "3", "2+3", true, ""},
		{"a byte from one to the other", "2+", "3", "2++3", true, ""},
		{"broken", "broken", "3", "2++3", false, "it is broken"},
		{"still broken", "broken", "3", "2++3", false, ""},
		{"broken otherwise", "broken", "4", "2++3", false, "it is broken: broken+4"},
		{"as before", "2+", "3", "2++3", true, ""},
		{"broken anew", "broken", "4", "2++3", false, "it is broken: broken+4"},
		{"mended", "5", "6", "5+6", true, ""},
	} {
		testbed.Write(t, a, step.a)
		testbed.Write(t, b, step.b)
		changed, err := files.Reload()
		if changed != step.changed || files.Value() != step.want ||
			(err == nil) != (step.err == "") || err != nil && !strings.Contains(err.Error(), step.err) {
			t.Errorf("%s: %v, %q, %v", step.name, changed, files.Value(), err)
		}
	}
	for range 2 {
		if err := os.Remove(b); err != nil {
			t.Fatal(err)
		}
		if changed, err := files.Reload(); changed || err == nil || files.Value() != "5+6" {
			t.Errorf("a file is gone: %v, %v, %q", changed, err, files.Value())
		}
		testbed.Write(t, b, "6")
		if _, err := files.Reload(); err != nil || files.Value() != "5+6" {
			t.Errorf("it is back: %v, %q", err, files.Value())
		}
	}
}

// The files of a directory come and go.
func TestReloadDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dir.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	testbed.Write(t, filepath.Join(dir, "b.yaml"), "1")
	testbed.Write(t, filepath.Join(dir, "README"), "not one of them")
	files, err := NewDirectory(func(files []File) (string, error) {
		var all []string
		for _, file := range files {
			all = append(all, filepath.Base(file.Path)+":"+string(file.Content))
		}
		return strings.Join(all, " "), nil
	}, dir, ".yaml", ".json")
	if err != nil || files.Value() != "b.yaml:1" {
		t.Fatalf("%q, %v", files.Value(), err)
	}
	testbed.Write(t, filepath.Join(dir, "a.JSON"), "2")
	if changed, err := files.Reload(); !changed || err != nil || files.Value() != "a.JSON:2 b.yaml:1" {
		t.Errorf("%v, %v, %q", changed, err, files.Value())
	}
	if err := os.Remove(filepath.Join(dir, "b.yaml")); err != nil {
		t.Fatal(err)
	}
	if changed, err := files.Reload(); !changed || err != nil || files.Value() != "a.JSON:2" {
		t.Errorf("%v, %v, %q", changed, err, files.Value())
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if changed, err := files.Reload(); changed || err == nil || files.Value() != "a.JSON:2" {
		t.Errorf("%v, %v, %q", changed, err, files.Value())
	}
}

// A mounted Secret is a folder of symbolic links that lead through another one, which a rename replaces.
func TestReloadThroughSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	for version, text := range map[string]string{"v1": "old", "v2": "new"} {
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
		testbed.Write(t, filepath.Join(dir, version, "f"), text)
	}
	link := func(to, at string) {
		t.Helper()
		if err := errors.Join(os.Symlink(to, at+".new"), os.Rename(at+".new", at)); err != nil {
			t.Fatal(err)
		}
	}
	link("v1", filepath.Join(dir, "..data"))
	link(filepath.Join("..data", "f"), filepath.Join(dir, "f"))
	files, err := New(joined, filepath.Join(dir, "f"))
	if err != nil || files.Value() != "old" {
		t.Fatalf("%q, %v", files.Value(), err)
	}
	link("v2", filepath.Join(dir, "..data"))
	if changed, err := files.Reload(); !changed || err != nil || files.Value() != "new" {
		t.Errorf("%v, %v, %q", changed, err, files.Value())
	}
}

func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	testbed.Write(t, path, "1")
	files, err := New(joined, path)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	ticks, ended, used := make(chan time.Time), make(chan struct{}), ""
	go func() {
		defer close(ended)
		files.Follow(ctx, ticks, slog.New(slog.NewTextHandler(&log, nil)), "letters", func(s string) { used += s })
	}()
	for _, text := range []string{"1", "2", "broken", "broken", "3"} {
		testbed.Write(t, path, text)
		ticks <- time.Time{}
		ticks <- time.Time{} // the one before was worked off
	}
	stop()
	<-ended
	if used != "23" {
		t.Errorf("used %q", used)
	}
	if told := log.String(); strings.Count(told, "level=ERROR") != 1 || strings.Count(told, "level=INFO") != 2 ||
		!strings.Contains(told, "of=letters") {
		t.Errorf("logged %s", told)
	}
}

// Files that are replaced one after the other, while they are read, are read again and cause no error.
func TestReloadBetweenTwoFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	testbed.Write(t, a, "1")
	testbed.Write(t, b, "1")
	between := func() {}
	files, err := New(func(contents [][]byte) (string, error) {
		defer between()
		if !bytes.Equal(contents[0], contents[1]) {
			return "", errors.New("they don't fit")
		}
		return string(contents[0]), nil
	}, a, b)
	if err != nil {
		t.Fatal(err)
	}
	testbed.Write(t, a, "2")
	between = func() { testbed.Write(t, b, "2") }
	if changed, err := files.Reload(); !changed || err != nil || files.Value() != "2" {
		t.Errorf("%v, %v, %q", changed, err, files.Value())
	}
}

package reload

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/testbed"
)

func TestValueFollowsItsFiles(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(first, "1")
	write(second, "2")
	var logged bytes.Buffer
	v, err := Open(slog.New(slog.NewTextHandler(&logged, nil)), func(contents [][]byte) (string, error) {
		if text := string(bytes.Join(contents, []byte("+"))); !strings.Contains(text, "bad") {
			return text, nil
		}
		return "", errors.New("it is bad")
	}, first, second)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	v.now = func() time.Time { return now }
	want := func(value, log string) {
		t.Helper()
		now = now.Add(oftenest)
		if got := v.Get(); got != value {
			t.Errorf("the value is %q, want %q", got, value)
		}
		if got := logged.String(); strings.Count(got, "\n") != strings.Count(log, "|") || log == "" && got != "" {
			t.Errorf("logged %q, want lines %q", got, log)
		}
		for line := range strings.SplitSeq(log, "|") {
			if !strings.Contains(logged.String(), line) {
				t.Errorf("logged %q, want %q", logged.String(), line)
			}
		}
		logged.Reset()
	}
	want("1+2", "")
	write(second, "3")
	if got := v.Get(); got != "1+2" {
		t.Errorf("read too early: %q", got)
	}
	want("1+3", "files were reloaded|")
	write(first, "bad")
	want("1+3", "it is bad|")
	want("1+3", "")
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	want("1+3", "no such file|")
	want("1+3", "")
	write(first, "4")
	want("4+3", "files were reloaded|")
}

func TestOpenRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	parse := func([][]byte) (int, error) { return 0, errors.New("wrong") }
	if _, err := Open(slog.Default(), parse, path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(slog.Default(), parse, path); err == nil || err.Error() != "wrong" {
		t.Error(err)
	}
}

// A clock that is set back doesn't keep a value from following its files, and observers hear of every change and error.
func TestClockIsSetBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	testbed.Write(t, path, "1")
	v, err := Open(slog.New(slog.DiscardHandler), joined, path)
	if err != nil {
		t.Fatal(err)
	}
	var observed []string
	v.Observe(func(err error) { observed = append(observed, fmt.Sprint(err)) })
	now := time.Unix(1_700_000_000, 0)
	v.now = func() time.Time { return now }
	v.set()
	for i, text := range []string{"2", "broken", "3"} {
		now = now.Add(-time.Hour)
		testbed.Write(t, path, text)
		if got := v.Get(); text != "broken" && got != text {
			t.Errorf("step %d: %q, want %q", i, got, text)
		}
	}
	if want := []string{"<nil>", "it is broken: broken", "<nil>"}; !slices.Equal(observed, want) {
		t.Errorf("observed %q, want %q", observed, want)
	}
}

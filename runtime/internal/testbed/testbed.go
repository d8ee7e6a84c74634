// Package testbed has what the tests of several packages need: files that change while a server runs, conditions to
// wait for, connections inside the process, and hostile servers. It knows no other package of the runtime.
package testbed

import (
	"errors"
	"os"
	"testing"
	"time"
)

// Write writes a file, which others see whole or not at all, and returns its path.
func Write[C string | []byte](t testing.TB, path string, content C) string {
	t.Helper()
	unfinished := path + ".new"
	if err := errors.Join(os.WriteFile(unfinished, []byte(content), 0o600), os.Rename(unfinished, path)); err != nil {
		t.Fatal(err)
	}
	return path
}

// Until waits until a condition holds. It gives up when the test has little time left, and names what it waited for.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for late := before(t); !holds(); {
		select {
		case <-ticker.C:
		case <-late:
			t.Fatalf("%s did not come about", what)
		}
	}
}

// before returns a channel that is ready some time before the test's deadline; nil if it has none.
func before(t testing.TB) <-chan time.Time {
	if timed, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := timed.Deadline(); ok {
			return time.After(time.Until(deadline) * 9 / 10)
		}
	}
	return nil
}

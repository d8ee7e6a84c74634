package server

import (
	"net/http"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"
)

// TestContentionProfiling: the profile of blocking has goroutines that waited, if and only if a flag asks for it.
func TestContentionProfiling(t *testing.T) {
	t.Cleanup(func() { runtime.SetBlockProfileRate(0); runtime.SetMutexProfileFraction(0) })
	sample := regexp.MustCompile(`(?m)^\d+ \d+ @( 0x[0-9a-f]+)+$`)
	profile := func(flags ...string) func() string {
		s := start(t, filepath.Join(t.TempDir(), "data"), flags...)
		client := s.client(t)
		return func() string {
			code, text := get(t, client, s.url+"/debug/pprof/block?debug=1")
			if code != http.StatusOK {
				t.Errorf("the profile: %d", code)
			}
			return text
		}
	}
	if text := profile()(); sample.MatchString(text) {
		t.Errorf("the profile was filled without being asked for: %s", text)
	}
	filled := profile("--contention-profiling")
	for end := time.Now().Add(time.Minute); !sample.MatchString(filled()); {
		if time.Now().After(end) {
			t.Fatal("the profile is empty")
		}
	}
}

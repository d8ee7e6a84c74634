package encryption

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/testbed"
)

func prefixOf(t *testing.T, s *Source) string {
	t.Helper()
	stored, err := s.For(widgets).Seal(etcdKey, value)
	if err != nil {
		t.Fatal(err)
	}
	return string(stored[:strings.LastIndex(string(stored[:20]), ":")+1])
}

// A file that is changed is taken, one that is wrong or gone leaves what was.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "encryption.yaml")
	testbed.Write(t, path, rules(keys("aesgcm", "a", secret32)))
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	heard := 0
	cancel := s.For(widgets).OnChange(func() { heard++ })
	for i, step := range []struct {
		text    string // "" takes the file away
		changed bool
		err     string
		prefix  string
		heard   int
	}{
		{rules(keys("aesgcm", "a", secret32)), false, "", "k8s:enc:aesgcm:v1:a:", 0},
		{rules(keys("aesgcm", "b", other32, "a", secret32)), true, "", "k8s:enc:aesgcm:v1:b:", 1},
		{rules(keys("aesgcm", "b", "x")), false, "encryption.yaml: resources[0].providers[0].aesgcm.keys[0].secret",
			"k8s:enc:aesgcm:v1:b:", 1},
		{"", false, "no such file", "k8s:enc:aesgcm:v1:b:", 1},
		{rules(keys("aesgcm", "c", secret32)), true, "", "k8s:enc:aesgcm:v1:c:", 2},
	} {
		if step.text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		} else {
			testbed.Write(t, path, step.text)
		}
		changed, err := s.Reload()
		if changed != step.changed || (err == nil) != (step.err == "") ||
			err != nil && !strings.Contains(err.Error(), step.err) {
			t.Errorf("step %d: %v %v", i, changed, err)
		}
		if got := prefixOf(t, s); got != step.prefix || heard != step.heard {
			t.Errorf("step %d: %s, heard %d", i, got, heard)
		}
	}
	cancel()
	testbed.Write(t, path, rules(keys("aesgcm", "d", secret32)))
	if changed, err := s.Reload(); !changed || err != nil || heard != 2 {
		t.Errorf("%v %v, heard %d", changed, err, heard)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "encryption.yaml")
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	testbed.Write(t, path, head)
	if _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": resources: Required value") {
		t.Error(err)
	}
	none, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := none.Reload(); changed || err != nil {
		t.Error(changed, err)
	}
	if stored, err := none.For(widgets).Seal(etcdKey, value); err != nil || string(stored) != string(value) {
		t.Errorf("%q %v", stored, err)
	}
}

// Follow reloads at each tick, logs a file that it can't use, and ends with its context.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "encryption.yaml")
	testbed.Write(t, path, rules("identity: {}"))
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	var taken []*Keys
	ctx, cancel := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	go func() {
		defer close(ended)
		s.Follow(ctx, ticks, slog.New(slog.NewTextHandler(&log, nil)), func(k *Keys) { taken = append(taken, k) })
	}()
	testbed.Write(t, path, rules(keys("aesgcm", "a", "x")))
	ticks <- time.Time{}
	ticks <- time.Time{} // the one before was handled
	testbed.Write(t, path, rules(keys("aesgcm", "a", secret32)))
	ticks <- time.Time{}
	ticks <- time.Time{}
	if got := prefixOf(t, s); got != "k8s:enc:aesgcm:v1:a:" {
		t.Error(got)
	}
	cancel()
	<-ended
	if len(taken) != 1 || taken[0] != s.Keys() {
		t.Errorf("taken: %v", taken)
	}
	text := log.String()
	if !strings.Contains(text, "could not be reloaded, the previous one stays in use") ||
		!strings.Contains(text, "was reloaded") || strings.Contains(text, secret32) {
		t.Error(text)
	}
}

// A secret that is mounted as Kubernetes does it changes all at once, by another target of a symbolic link.
func TestReloadOfAMountedSecret(t *testing.T) {
	dir := t.TempDir()
	for version, text := range map[string]string{"..1": rules(keys("aesgcm", "a", secret32)),
		"..2": rules(keys("aesgcm", "b", other32))} {
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
		testbed.Write(t, filepath.Join(dir, version, "encryption.yaml"), text)
	}
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(dir, "new")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("..1", "..data")
	link("..data/encryption.yaml", "encryption.yaml")
	s, err := Load(filepath.Join(dir, "encryption.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	link("..2", "..data")
	if changed, err := s.Reload(); !changed || err != nil || prefixOf(t, s) != "k8s:enc:aesgcm:v1:b:" {
		t.Errorf("%v %v %s", changed, err, prefixOf(t, s))
	}
	link("..3", "..data")
	if _, err := s.Reload(); err == nil || prefixOf(t, s) != "k8s:enc:aesgcm:v1:b:" {
		t.Errorf("%v %s", err, prefixOf(t, s))
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a directory: %v", err)
	}
}

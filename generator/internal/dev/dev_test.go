//go:build unix

package dev_test

import (
	"bufio"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"apigen.dev/generator/internal/dev"
	"apigen.dev/generator/internal/loadtest"
)

const project = `-- apis/shop/v1/types.go --
// +groupName=shop.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Widget is one.
//
// +genclient
// +kubebuilder:object:root=true
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Size int32 ` + "`json:\"size,omitempty\"`" + `
}
-- cmd/shop/main.go --
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	v1 "example.com/test/apis/shop/v1"
)

func main() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	fmt.Println("serving", os.Getpid(), os.Args[1:], new(v1.Widget).DeepCopy() != nil)
	<-end
	fmt.Println("bye")
}
`

// stage is a project under apigen dev.
type stage struct {
	t      *testing.T
	dir    string
	lines  chan string
	output []string
}

// start runs apigen dev on the project until stop is called, which returns what Run returned.
func start(t *testing.T, dir string, o dev.Options) (s *stage, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	s = &stage{t: t, dir: dir, lines: make(chan string, 1000)}
	o.Dir, o.Out, o.ServerOut, o.ServerErr, o.Poll = dir, writer, writer, writer, 10*time.Millisecond
	o.Env = loadtest.Env("-mod=mod")
	go func() {
		for scanner := bufio.NewScanner(reader); scanner.Scan(); {
			s.lines <- scanner.Text()
		}
		close(s.lines)
	}()
	done := make(chan error, 1)
	go func() {
		err := dev.Run(ctx, o)
		_ = writer.Close()
		done <- err
	}()
	stop = func() error {
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		cancel()
		for range s.lines { // until Run has returned
		}
	})
	return s, stop
}

// expect waits for lines of all patterns, in any order: a server may speak before it is said that it was started. It
// returns the match of the last pattern.
func (s *stage) expect(patterns ...string) []string {
	s.t.Helper()
	missing := make(map[string]*regexp.Regexp)
	for _, p := range patterns {
		missing[p] = regexp.MustCompile(p)
	}
	var last []string
	deadline := time.After(5 * time.Minute) // it compiles
	for len(missing) > 0 {
		select {
		case line, ok := <-s.lines:
			s.output = append(s.output, line)
			for p, re := range missing {
				m := re.FindStringSubmatch(line)
				if m == nil {
					continue
				}
				delete(missing, p)
				if p == patterns[len(patterns)-1] {
					last = m
				}
			}
			if !ok && len(missing) > 0 {
				s.t.Fatalf("it ended before %q:\n%s", slices.Sorted(maps.Keys(missing)), strings.Join(s.output, "\n"))
			}
		case <-deadline:
			s.t.Fatalf("no line %q:\n%s", slices.Sorted(maps.Keys(missing)), strings.Join(s.output, "\n"))
		}
	}
	return last
}

func (s *stage) edit(name, old, now string) {
	s.t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	text := strings.Replace(string(data), old, now, 1)
	if text == string(data) {
		s.t.Fatalf("%s has no %q", name, old)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// TestDay is a day of work: a start, a new field, a mistake and its mending, one in Go alone, a change that
// changes nothing, a server that dies, and the end.
func TestDay(t *testing.T) {
	const types = "apis/shop/v1/types.go"
	s, stop := start(t, loadtest.Dir(t, project), dev.Options{Args: []string{"--flag"}})
	s.expect(`^\d\d:\d\d:\d\d generated \d files in \d+\.\ds, compiled in \d+\.\ds, started$`,
		`^serving \d+ \[--flag\] true$`)

	s.edit(types, "\tSize int32", "\tColor string `json:\"color,omitempty\"`\n\tSize int32")
	s.expect(`^bye$`)
	s.expect(`restarted, API: shop.example.com/v1/Widget:color: color is new$`, `^serving `)

	s.edit(types, "Size int32", "Size chan int32")
	s.expect(`generating failed; the server goes on as it was$`)
	s.expect(`^` + types + `:\d+:\d+: `)
	s.edit(types, "Size chan int32", "Size int32")
	s.expect(`the server is the same$`)

	s.edit("cmd/shop/main.go", "<-end", "<-ende")
	s.expect(`compiling failed; the server goes on as it was$`)
	s.expect(`main.go:\d+:\d+: undefined: ende$`)
	s.edit("cmd/shop/main.go", "<-ende", "<-end")
	s.expect(`the server is the same$`)

	s.edit(types, "\tColor string `json:\"color,omitempty\"`\n", "")
	served := s.expect(`restarted, API: shop.example.com/v1/Widget:color: color is gone \(breaking: FIELD_REMOVED\)$`,
		`^serving (\d+)`)
	pid, err := strconv.Atoi(served[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.expect(`the server ended by itself: signal: killed; it is started again after the next change$`)
	s.edit(types, "// Widget is one.", "// Widget is 1.")
	s.expect(`started$`, `^serving `)
	if err := stop(); err != nil {
		t.Errorf("the end: %v", err)
	}
	s.expect(`^bye$`)
}

// TestEndWhileCompiling: what the go command was at is gone with the one who asked for it.
func TestEndWhileCompiling(t *testing.T) {
	for _, variable := range []string{"TMPDIR", "GOTMPDIR"} {
		t.Run(variable, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("GOTMPDIR", "")
			t.Setenv(variable, temp)
			_, stop := start(t, loadtest.Dir(t, project), dev.Options{})
			tick, deadline := time.NewTicker(time.Millisecond), time.After(5*time.Minute)
			defer tick.Stop()
			for !compiling(temp) {
				select {
				case <-tick.C:
				case <-deadline:
					t.Fatal("nothing was compiled")
				}
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
			left, err := os.ReadDir(temp)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range left {
				t.Errorf("%s is left", e.Name())
			}
		})
	}
}

// compiling reports whether the go command has a working folder with something in it.
func compiling(temp string) bool {
	for _, pattern := range []string{"go-build*", "*/go-build*", "*/*/go-build*"} {
		if found, _ := filepath.Glob(filepath.Join(temp, pattern, "b*")); len(found) > 0 {
			return true
		}
	}
	return false
}

// TestWhichMain: without a choice there must be one command.
func TestWhichMain(t *testing.T) {
	dir := loadtest.Dir(t, "-- a.go --\npackage a\n")
	check := func(want string) {
		t.Helper()
		err := dev.Run(context.Background(), dev.Options{Dir: dir, Out: io.Discard})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	check("there is no folder below cmd")
	for _, name := range []string{"a", "b"} {
		if err := os.MkdirAll(filepath.Join(dir, "cmd", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	check("choose one of them with --main: ./cmd/a, ./cmd/b")
}

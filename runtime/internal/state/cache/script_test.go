package cache

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write what the scripts of testdata print into them")

// TestScripts runs testdata/*.txt. A script is a list of commands, each followed by a line "----" and by what it
// prints, up to an empty line. Time is the bubble's: it passes only in "sleep", and in what waits. Keys are relative to
// the cache's prefix but for those that begin with "/". The commands are the methods of script.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var printed string
			synctest.Test(t, func(t *testing.T) { printed = runScript(t, string(source)) })
			if *rewrite {
				if err := os.WriteFile(file, []byte(printed), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if printed != string(source) {
				t.Errorf("%s prints something else; run with -rewrite and look at the diff:\n%s", file,
					firstDifference(string(source), printed))
			}
		})
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	command := ""
	for i := range min(len(w), len(g)) {
		if i+1 < len(w) && w[i+1] == "----" {
			command = w[i]
		}
		if w[i] != g[i] {
			return fmt.Sprintf("line %d, %s\nwant: %s\ngot:  %s", i+1, command, w[i], g[i])
		}
	}
	return fmt.Sprintf("%d lines are wanted, %d were printed", len(w), len(g))
}

type script struct {
	t       *testing.T
	ctx     context.Context
	cancel  context.CancelFunc
	fake    *fake
	config  Config
	cache   *Cache
	cursors map[string]*Cursor
	waiting map[string]chan string
	held    map[string]*Snapshot
}

// runScript returns the script with what its commands print.
func runScript(t *testing.T, source string) string {
	s := &script{t: t, fake: newFake(), cursors: map[string]*Cursor{}, waiting: map[string]chan string{},
		held: map[string]*Snapshot{}}
	s.config = toyConfig(s.fake)
	s.config.Backoff = func(int) time.Duration { return 10 * time.Millisecond }
	s.config.Progress = 90 * time.Millisecond // no divisor of what is waited for
	s.ctx, s.cancel = context.WithCancel(t.Context())
	var out strings.Builder
	lines := strings.Split(strings.TrimRight(source, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for i+1 < len(lines) && lines[i+1] != "" && !strings.HasPrefix(lines[i+1], "#") {
			i++ // what was printed before
		}
		synctest.Wait()
		printed := s.run(line)
		synctest.Wait()
		out.WriteString("----\n" + strings.TrimRight(printed, "\n") + "\n")
	}
	s.cancel()
	synctest.Wait()
	return out.String()
}

func key(arg string) string {
	if strings.HasPrefix(arg, "/") {
		return arg
	}
	return toys + arg
}

// run calls the method of script that is named like the command.
func (s *script) run(line string) string {
	words := strings.Fields(line)
	name := strings.ToUpper(words[0][:1]) + words[0][1:]
	method := reflect.ValueOf(s).MethodByName(name)
	if !method.IsValid() {
		s.t.Fatalf("no command %q", words[0])
	}
	do, ok := method.Interface().(func(...string) string)
	if !ok {
		s.t.Fatalf("%q is no command", words[0])
	}
	return do(words[1:]...)
}

func (s *script) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// Run starts the cache. Settings: window=MIN,MAX bytes=N renditions=N page=N coalesce.
func (s *script) Run(args ...string) string {
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "window":
			low, high, _ := strings.Cut(value, ",")
			s.config.Window.Min, s.config.Window.Max = int(s.number(low)), int(s.number(high))
		case "bytes":
			s.config.Window.Bytes = s.number(value)
		case "renditions":
			s.config.RenditionBytes = s.number(value)
		case "page":
			s.config.PageSize = s.number(value)
		case "coalesce":
			s.fake.coalesce = true
		default:
			s.t.Fatalf("no setting %q", name)
		}
	}
	s.cache = New(s.config)
	go func() {
		if err := s.cache.Run(s.ctx); err != nil {
			s.t.Error(err)
		}
	}()
	synctest.Wait()
	return s.Ready()
}

// Stop ends the cache.
func (s *script) Stop(...string) string {
	s.cancel()
	synctest.Wait()
	return s.Ready()
}

// Put VALUE KEY... writes keys at one revision.
func (s *script) Put(args ...string) string {
	keys := args[1:]
	for i := range keys {
		keys[i] = key(keys[i])
	}
	return fmt.Sprint(s.fake.put(args[0], keys...))
}

// Many VALUE COUNT FOLDER writes keys FOLDER/000 and so on.
func (s *script) Many(args ...string) string {
	var last int64
	for i := range s.number(args[1]) {
		last = s.fake.put(args[0], key(fmt.Sprintf("%s/%03d", args[2], i)))
	}
	return fmt.Sprint(last)
}

// Delete KEY.
func (s *script) Delete(args ...string) string { return fmt.Sprint(s.fake.remove(key(args[0]))) }

// Compact REVISION drops history of the backend.
func (s *script) Compact(args ...string) string {
	s.fake.compact(s.number(args[0]))
	return "ok"
}

// Rollback REVISION makes the backend forget what came later.
func (s *script) Rollback(args ...string) string {
	s.fake.rollBack(s.number(args[0]))
	return "ok"
}

// Fake SWITCH on|off, of stalled, deaf and down.
func (s *script) Fake(args ...string) string {
	s.fake.change(func() {
		which := map[string]*bool{"stalled": &s.fake.stalled, "deaf": &s.fake.deaf, "down": &s.fake.down}[args[0]]
		*which = args[1] == "on"
	})
	return "ok"
}

// Break ends the watch.
func (s *script) Break(...string) string {
	s.fake.breakStreams()
	return "ok"
}

// Asked prints how often the cache has asked the backend for its revision and for progress since the last time.
func (s *script) Asked(...string) string {
	s.fake.mu.Lock()
	defer s.fake.mu.Unlock()
	defer func() { s.fake.asked, s.fake.requests = 0, 0 }()
	return fmt.Sprintf("revision %d, progress %d", s.fake.asked, s.fake.requests)
}

// Sleep DURATION.
func (s *script) Sleep(args ...string) string {
	d, err := time.ParseDuration(args[0])
	if err != nil {
		s.t.Fatal(err)
	}
	time.Sleep(d)
	return "ok"
}

// Ready prints whether the cache is.
func (s *script) Ready(...string) string {
	if err := s.cache.Ready(); err != nil {
		return err.Error()
	}
	return "ready"
}

// Stats NAME...
func (s *script) Stats(args ...string) string {
	stats := reflect.ValueOf(s.cache.Stats())
	var out strings.Builder
	for _, name := range args {
		field := stats.FieldByName(name)
		if !field.IsValid() {
			s.t.Fatalf("no number %q", name)
		}
		fmt.Fprintf(&out, "%s %d\n", name, field.Int())
	}
	return out.String()
}

func (s *script) snapshot(snapshot *Snapshot, err error, show []string) string {
	if err != nil {
		return err.Error()
	}
	out := fmt.Sprintf("revision %d\n", snapshot.Revision())
	if len(show) == 0 {
		return out
	}
	prefix, from := key(strings.TrimPrefix(show[0], ".")), ""
	if len(show) > 1 {
		from = key(show[1])
	}
	for e := range snapshot.Entries(prefix, from) {
		out += fmt.Sprintf("%s %d %s\n", strings.TrimPrefix(e.Key(), toys), e.Revision(), text(s.t, e))
	}
	out += fmt.Sprintf("count %d\n", snapshot.Count(prefix, from))
	if e := snapshot.Corrupt(prefix); e != nil {
		out += fmt.Sprintf("corrupt %s\n", strings.TrimPrefix(e.Key(), toys))
	}
	return out
}

// Current, Consistent, Notolderthan REVISION and At REVISION print the revision, and with [PREFIX [FROM]] the entries;
// the prefix "." is all.
func (s *script) Current(args ...string) string {
	snapshot, err := s.cache.Current()
	return s.snapshot(snapshot, err, args)
}

func (s *script) Consistent(args ...string) string {
	begin := time.Now()
	snapshot, err := s.cache.Consistent(s.ctx)
	out := s.snapshot(snapshot, err, args)
	if waited := time.Since(begin); waited > 0 {
		out += fmt.Sprintf("\nafter %v", waited)
	}
	return out
}

// Latest [PREFIX] prints the snapshot, or that the cache is behind.
func (s *script) Latest(args ...string) string {
	snapshot := s.cache.Latest(s.ctx)
	if snapshot == nil {
		return "behind"
	}
	return s.snapshot(snapshot, nil, args)
}

func (s *script) Notolderthan(args ...string) string {
	begin := time.Now()
	snapshot, err := s.cache.NotOlderThan(s.ctx, s.number(args[0]))
	out := s.snapshot(snapshot, err, args[1:])
	if waited := time.Since(begin); waited > 0 {
		out += fmt.Sprintf("\nafter %v", waited)
	}
	return out
}

func (s *script) At(args ...string) string {
	snapshot, err := s.cache.At(s.ctx, s.number(args[0]))
	return s.snapshot(snapshot, err, args[1:])
}

// Hold NAME keeps the current snapshot, Held NAME PREFIX prints it.
func (s *script) Hold(args ...string) string {
	snapshot, err := s.cache.Current()
	s.held[args[0]] = snapshot
	return s.snapshot(snapshot, err, nil)
}

func (s *script) Held(args ...string) string { return s.snapshot(s.held[args[0]], nil, args[1:]) }

// Watch NAME PREFIX AFTER [LABEL=VALUE].
func (s *script) Watch(args ...string) string {
	var match Match
	if len(args) > 3 {
		label, value, _ := strings.Cut(args[3], "=")
		match = func(e *Entry) bool { return e.Labels().Get(label) == value }
	}
	w, err := s.cache.Watch(key(strings.TrimPrefix(args[1], ".")), nil, s.number(args[2]), match)
	if err != nil {
		return err.Error()
	}
	if w == nil {
		s.t.Fatal("neither a cursor nor an error")
	}
	s.cursors[args[0]] = w
	return "ok"
}

func (s *script) printed(w *Cursor, events []Event, err error) string {
	var out strings.Builder
	for _, e := range events {
		kind := [...]string{"ADDED", "MODIFIED", "DELETED"}[e.Type]
		fmt.Fprintf(&out, "%s %d %s %s\n", kind, e.Revision, strings.TrimPrefix(e.Entry.Key(), toys),
			text(s.t, e.Entry))
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		out.WriteString("nothing\n")
	case err != nil:
		fmt.Fprintln(&out, err)
	}
	fmt.Fprintf(&out, "at %d", w.Revision())
	return out.String()
}

// Next NAME prints what the cursor returns within a millisecond.
func (s *script) Next(args ...string) string {
	w := s.cursors[args[0]]
	if w == nil {
		return "no such cursor"
	}
	ctx, cancel := context.WithTimeout(s.ctx, time.Millisecond)
	defer cancel()
	events, err := w.Next(ctx)
	return s.printed(w, events, err)
}

// Wait NAME lets the cursor wait, Woken NAME prints what came, if anything did.
func (s *script) Wait(args ...string) string {
	w, done := s.cursors[args[0]], make(chan string, 1)
	s.waiting[args[0]] = done
	go func() {
		events, err := w.Next(s.ctx)
		done <- s.printed(w, events, err)
	}()
	return "ok"
}

func (s *script) Woken(args ...string) string {
	select {
	case printed := <-s.waiting[args[0]]:
		return printed
	default:
		return "still waiting"
	}
}

// Close NAME closes a cursor.
func (s *script) Close(args ...string) string {
	s.cursors[args[0]].Close()
	return "ok"
}

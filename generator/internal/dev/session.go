package dev

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/compat"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/report"
)

// session is the state of one Run. Its fields belong to the goroutine of run.
type session struct {
	Options
	temp string
	// work is where the go command keeps what it is at: it is killed at the end, and leaves that behind.
	work string
	// dirs are the folders that are watched, state what was seen there last.
	dirs  []string
	state state
	// api is the API of the last build that succeeded.
	api *model.Program
	// binary is the digest of the last server that was compiled, server the process that runs.
	binary [sha256.Size]byte
	cycles int
	server *process
}

func (s *session) run(ctx context.Context) error {
	s.dirs = []string{s.Dir}
	s.state = look(s.dirs)
	for {
		s.cycle(ctx)
		if !s.wait(ctx) {
			return s.stop()
		}
	}
}

// wait returns when sources have changed and come to rest. It is false when ctx has ended.
func (s *session) wait(ctx context.Context) bool {
	tick := time.NewTicker(s.Poll)
	defer tick.Stop()
	var pending state
	for {
		select {
		case <-ctx.Done():
			return false
		case <-s.server.exited():
			s.say("the server ended by itself: %v; it is started again after the next change", s.server.err)
			s.server, s.binary = nil, [sha256.Size]byte{}
		case <-tick.C:
			now := look(s.dirs)
			switch {
			case pending != nil && maps.Equal(now, pending):
				s.state = now
				return true
			case !maps.Equal(now, s.state):
				pending = now
			default:
				pending = nil
			}
		}
	}
}

func (s *session) stop() error {
	if s.server == nil {
		return nil
	}
	err := s.server.stop()
	s.server = nil
	return err
}

func (s *session) cycle(ctx context.Context) {
	start := time.Now()
	res, err := generator.Build(ctx, generator.Options{Dir: s.Dir, Patterns: s.Patterns, Env: s.goEnv()})
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.fail("generating", report.Describe(err, s.Dir))
		return
	}
	added := slices.DeleteFunc(slices.Clone(res.Dirs), func(dir string) bool { return slices.Contains(s.dirs, dir) })
	s.state.update(res.Changes, added)
	s.dirs = res.Dirs
	generated := time.Since(start)
	compiled, err := s.compile(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.fail("compiling", err.Error())
		return
	}
	parts := []string{
		fmt.Sprintf("generated %s in %s", count(len(res.Changes)), seconds(generated)),
		"compiled in " + seconds(time.Since(start)-generated),
	}
	action, err := s.restart(compiled)
	if err != nil {
		s.fail("starting", err.Error())
		return
	}
	parts = append(parts, action)
	if change := s.apiChange(res.Program); change != "" {
		parts = append(parts, change)
	}
	if len(res.Warnings) > 0 {
		fmt.Fprintln(s.Out, report.Warnings(res.Warnings, s.Dir))
	}
	s.say("%s", strings.Join(parts, ", "))
}

func count(n int) string {
	switch n {
	case 0:
		return "nothing new"
	case 1:
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

func (s *session) say(format string, args ...any) {
	fmt.Fprintf(s.Out, "%s %s\n", s.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

func (s *session) fail(stage, what string) {
	rest := "no server is running"
	if s.server != nil {
		rest = "the server goes on as it was"
	}
	s.say("%s failed; %s", stage, rest)
	fmt.Fprintln(s.Out, strings.TrimRight(what, "\n"))
}

func (s *session) goEnv() []string { return append(slices.Clone(s.Env), "GOTMPDIR="+s.work) }

func (s *session) compile(ctx context.Context) (string, error) {
	s.cycles++
	out := filepath.Join(s.temp, fmt.Sprintf("server-%d", s.cycles))
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", out, s.Main)
	cmd.Dir, cmd.Env = s.Dir, s.goEnv()
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Run(); err != nil {
		if text.Len() > 0 {
			return "", errors.New(text.String())
		}
		return "", err
	}
	return out, nil
}

// restart replaces the server, unless the new one is the old one, byte by byte.
func (s *session) restart(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	if s.server != nil && sum == s.binary {
		return "the server is the same", os.Remove(file)
	}
	action := "started"
	if s.server != nil {
		action = "restarted"
		if err := s.server.stop(); err != nil {
			s.say("the old server ended with: %v", err)
		}
		_ = os.Remove(s.server.file)
		s.server = nil
	}
	s.server, err = start(file, s.Options)
	if err != nil {
		return "", err
	}
	s.binary = sum
	return action, nil
}

const maxShown = 4

func (s *session) apiChange(now *model.Program) string {
	before := s.api
	s.api = now
	if before == nil {
		return ""
	}
	findings := compat.Compare(before, now)
	if len(findings) == 0 {
		return ""
	}
	var shown []string
	for _, f := range findings[:min(len(findings), maxShown)] {
		text := f.Subject() + ": " + f.Message
		if f.Level == compat.Break {
			text += " (breaking: " + f.Rule.ID + ")"
		}
		shown = append(shown, text)
	}
	out := "API: " + strings.Join(shown, "; ")
	if more := len(findings) - maxShown; more > 0 {
		out += fmt.Sprintf("; and %d more", more)
	}
	return out
}

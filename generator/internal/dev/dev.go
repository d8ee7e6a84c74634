// Package dev implements `apigen dev`. It watches the sources of a project. After each change it generates, compiles
// and restarts the server, and prints one line. If a step fails, it prints the errors with their positions, and the
// last server keeps running. It knows package generator and the comparison of APIs.
package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"apigen.dev/generator/internal/folder"
)

// Options say what to run.
type Options struct {
	// Dir is the project's folder; empty is the working directory.
	Dir string
	// Patterns are those of the go command, of the packages to generate for; none is ./... .
	Patterns []string
	// Main is the folder of the server's main package; empty is the only folder below cmd.
	Main string
	// Args are the server's arguments.
	Args []string
	// Env is the environment of the go command and of the server; nil is the process's.
	Env []string
	// Out receives a line a cycle, and what is wrong; the server's own output goes to ServerOut and ServerErr.
	Out, ServerOut, ServerErr io.Writer
	// Poll is how often files are looked at; 0 is 300 ms. A change is acted on when a whole interval brought no other.
	Poll time.Duration
	// Now is the clock of the lines; nil is the machine's.
	Now func() time.Time
}

// Run runs until ctx ends, and then ends the server. The error is about the options, or about the end of the server.
func Run(ctx context.Context, o Options) error {
	if err := o.complete(); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(o.temporary(), "apigen-dev-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	s := &session{Options: o, temp: temp, work: filepath.Join(temp, "go")}
	if err := os.Mkdir(s.work, 0o700); err != nil {
		return err
	}
	return s.run(ctx)
}

func (o *Options) complete() error {
	dir, err := folder.Absolute(o.Dir)
	if err != nil {
		return err
	}
	o.Dir = dir
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Poll <= 0 {
		o.Poll = 300 * time.Millisecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Main == "" {
		o.Main, err = onlyMain(dir)
	}
	return err
}

func (o *Options) temporary() (dir string) {
	for _, variable := range o.Env {
		if value, ok := strings.CutPrefix(variable, "GOTMPDIR="); ok {
			dir = value
		}
	}
	return dir
}

func onlyMain(dir string) (string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "cmd"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, "./cmd/"+e.Name())
		}
	}
	switch len(names) {
	case 1:
		return names[0], nil
	case 0:
		return "", errors.New("there is no folder below cmd: name the server's main package with --main")
	}
	return "", fmt.Errorf("there are several commands: choose one of them with --main: %s", strings.Join(names, ", "))
}

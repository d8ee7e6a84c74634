package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// client drives the server: with kubectl, or with plain HTTPS.
type client interface {
	// run makes a step, prints it and its answer, and reports whether it failed.
	run(ctx context.Context, st step) (answer string, failed bool)
	// object returns the sample as JSON.
	object(ctx context.Context) (string, error)
	// watch begins a watch of all widgets in the namespace.
	watch(ctx context.Context) (*watching, error)
	// reconnect is called when the server has another address.
	reconnect() error
}

func newClient(project string, plain bool) (client, error) {
	if path := lookKubectl(); path != "" && !plain {
		return &kubectl{path: path, project: project}, nil
	}
	say("There is no kubectl here: plain HTTPS does the same.")
	h := &https{project: project}
	return h, h.reconnect()
}

// watching is a running watch, which sends its lines.
type watching struct {
	lines chan string
	end   func()
}

// follow sends the lines of r as they come.
func follow(r io.Reader, end func()) *watching {
	w := &watching{lines: make(chan string, 100), end: end}
	go func() {
		defer close(w.lines)
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			w.lines <- scanner.Text()
		}
	}()
	return w
}

// expect waits for a line that has both words.
func (w *watching) expect(ctx context.Context, event, name string) error {
	deadline := time.After(2 * time.Minute)
	for {
		select {
		case line, open := <-w.lines:
			if !open {
				return fmt.Errorf("the watch ended before %s %s came", event, name)
			}
			fmt.Println("  | " + shorten(line))
			if strings.Contains(line, event) && strings.Contains(line, name) {
				return nil
			}
		case <-deadline:
			return fmt.Errorf("the watch did not show %s %s", event, name)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w *watching) close() { w.end() }

// shorten keeps a transcript readable.
func shorten(line string) string {
	if len(line) > 160 {
		return line[:157] + "..."
	}
	return line
}

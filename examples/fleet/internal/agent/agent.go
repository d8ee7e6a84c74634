// Package agent runs on board of a ship. It serves the log, three commands, forwarded ports and pages, in the protocols
// of Kubernetes' clients. The API server passes their requests on to it.
package agent

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Agent is an http.Handler. Its zero value works.
type Agent struct {
	journal journal
}

// Logf writes a line into the ship's log.
func (a *Agent) Logf(format string, args ...any) { a.journal.add(fmt.Sprintf(format, args...)) }

// ServeHTTP implements http.Handler.
func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	mux.HandleFunc("/log", a.log)
	mux.HandleFunc("/exec/", a.exec)
	mux.HandleFunc("/attach/", a.attach)
	mux.HandleFunc("/portforward/", a.portForward)
	if strings.HasPrefix(r.URL.Path, "/proxy/") {
		a.page(w, r) // whatever the path: a mux would clean it
		return
	}
	mux.ServeHTTP(w, r)
}

// log writes the lines of the log, and with follow also new lines.
func (a *Agent) log(w http.ResponseWriter, r *http.Request) {
	lines, changed := a.journal.from(0)
	if n, err := strconv.Atoi(r.URL.Query().Get("tailLines")); err == nil && n >= 0 && n < len(lines) {
		lines = lines[len(lines)-n:]
	}
	next, _ := a.journal.from(0)
	at := len(next)
	flusher := http.NewResponseController(w)
	for {
		for _, line := range lines {
			if _, err := io.WriteString(w, line+"\n"); err != nil {
				return
			}
		}
		if r.URL.Query().Get("follow") != "true" || flusher.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
		lines, changed = a.journal.from(at)
		at += len(lines)
	}
}

// page answers with the request as it arrived.
func (a *Agent) page(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("X-Ship", "true")
	fmt.Fprintf(w, "%s %s authorization=%q %s\n", r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), body)
}

// command holds the standard streams of a running command. Streams that the client did not ask for are nil.
type command struct {
	words          []string
	stdin          io.Reader
	stdout, stderr io.Writer
}

// run runs one of the commands and returns its exit code.
func (c command) run(context.Context) int {
	if c.stdout == nil {
		c.stdout = io.Discard
	}
	if c.stderr == nil {
		c.stderr = io.Discard
	}
	switch name := c.words[0]; {
	case name == "echo":
		for _, word := range c.words[1:] {
			fmt.Fprintln(c.stdout, word)
		}
	case name == "cat" && c.stdin != nil:
		if _, err := io.Copy(c.stdout, c.stdin); err != nil {
			fmt.Fprintln(c.stderr, err)
			return 1
		}
	case name == "fail" && len(c.words) == 2:
		fmt.Fprintln(c.stderr, "failing, as asked")
		if code, err := strconv.Atoi(c.words[1]); err == nil {
			return code
		}
		return 1
	default:
		fmt.Fprintf(c.stderr, "%s: not found\n", name)
		return 127
	}
	return 0
}

// journal is a log in memory.
type journal struct {
	mu      sync.Mutex // guards all
	lines   []string
	changed chan struct{}
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

// from returns the lines from an index on, and a channel that is closed when there are more.
func (j *journal) from(at int) ([]string, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	return slices.Clone(j.lines[at:]), j.changed
}

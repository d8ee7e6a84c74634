package command

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress shows the current stage on a line of the terminal, once a run takes longer than a second. Without a terminal
// it shows nothing.
type progress struct {
	out   *os.File
	mu    sync.Mutex // guards what follows
	text  string
	shown bool
	timer *time.Timer
}

func newProgress(out *os.File) *progress {
	p := &progress{out: out}
	if term.IsTerminal(int(out.Fd())) {
		p.timer = time.AfterFunc(time.Second, p.show)
	}
	return p
}

func (p *progress) stage(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
	if p.shown {
		p.print()
	}
}

func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.shown = true
		p.print()
	}
}

func (p *progress) print() { fmt.Fprintf(p.out, "\r\x1b[K%s ...", p.text) }

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	p.timer.Stop()
	p.timer = nil
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

package dev

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// grace is how long a server may take to end: it drains requests first.
const grace = 70 * time.Second

// process is a server that was started. Stop ends it once, or it ends by itself.
type process struct {
	file string
	cmd  *exec.Cmd
	done chan struct{}
	// err is how it ended; it may be read when done is closed.
	err error
}

// start runs a server. It is in a process group of its own, so that a Ctrl-C in the terminal ends it through us, once:
// the second signal would kill it.
func start(file string, o Options) (*process, error) {
	cmd := exec.Command(file, o.Args...) //nolint:noctx // it is asked to end by a signal; a context would kill it
	cmd.Dir, cmd.Env = o.Dir, o.Env
	cmd.Stdout, cmd.Stderr = o.ServerOut, o.ServerErr
	setGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{file: file, cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// exited is closed when the process has ended. For a nil process it returns nil, which is never ready.
func (p *process) exited() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.done
}

func (p *process) stop() error {
	select {
	case <-p.done:
		return p.err
	default:
	}
	if err := terminate(p.cmd.Process); err != nil {
		return fmt.Errorf("ending the server: %w", err)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.err
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.done
		return fmt.Errorf("it did not end within %v and was killed: %w", grace, os.ErrDeadlineExceeded)
	}
}

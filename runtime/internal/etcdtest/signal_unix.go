//go:build !windows

package etcdtest

import (
	"errors"
	"syscall"
)

// Stop halts the process as a stalled machine does: connections stay, nothing answers. It returns when all threads have
// stopped, which takes the kernel a moment on a busy machine.
func (p *Process) Stop() {
	p.t.Helper()
	p.signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	err := error(syscall.EINTR)
	for errors.Is(err, syscall.EINTR) {
		_, err = syscall.Wait4(p.command.Process.Pid, &status, syscall.WUNTRACED, nil)
	}
	if err != nil || !status.Stopped() {
		p.t.Fatalf("etcd didn't stop: %v, wait status %#x", err, status)
	}
}

// Continue lets a stopped process go on.
func (p *Process) Continue() { p.signal(syscall.SIGCONT) }

func (p *Process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.command.Process.Signal(s); err != nil {
		p.t.Fatalf("%s to etcd: %v", s, err)
	}
}

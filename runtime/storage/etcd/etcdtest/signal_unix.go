//go:build !windows

package etcdtest

import "syscall"

// Stop halts the process as a stalled machine does: connections stay, nothing answers.
func (p *Process) Stop() { p.signal(syscall.SIGSTOP) }

// Continue lets a stopped process go on.
func (p *Process) Continue() { p.signal(syscall.SIGCONT) }

func (p *Process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.command.Process.Signal(s); err != nil {
		p.t.Fatalf("%s to etcd: %v", s, err)
	}
}

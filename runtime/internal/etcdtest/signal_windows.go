package etcdtest

// Stop skips the test: Windows has no signal for it.
func (p *Process) Stop() { p.t.Skip("a process can't be halted on Windows") }

// Continue is never reached.
func (p *Process) Continue() {}

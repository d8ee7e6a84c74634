//go:build unix

package conformance

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// cost is what a command took, the processes that it started and waited for included.
type cost struct {
	cpu  time.Duration
	user time.Duration // of that, the part that isn't the system's
	peak int64         // bytes, of the largest process
}

func (c *cost) add(other cost) {
	c.cpu += other.cpu
	c.user += other.user
	c.peak = max(c.peak, other.peak)
}

// least is the least of each of two: what a busy machine adds says nothing.
func (c cost) least(other cost) cost {
	return cost{cpu: min(c.cpu, other.cpu), user: min(c.user, other.user), peak: min(c.peak, other.peak)}
}

func (c cost) within(cpu, user time.Duration) bool {
	return c.cpu <= cpu && c.user <= user && c.peak <= 250<<20
}

func costOf(p *os.ProcessState) cost {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return cost{}
	}
	peak := int64(usage.Maxrss)   //nolint:unconvert // it is not an int64 everywhere
	if runtime.GOOS != "darwin" { // elsewhere it is counted in KiB
		peak *= 1 << 10
	}
	return cost{cpu: p.UserTime() + p.SystemTime(), user: p.UserTime(), peak: peak}
}

package etcdtest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Proxy is a connection between two processes that a test can cut or silence. Its methods are safe for concurrent use.
type Proxy struct {
	listener net.Listener
	target   string

	mu          sync.Mutex // guards the following fields
	cut, closed bool
	delay       time.Duration
	open        chan struct{} // closed while bytes pass
	connections map[net.Conn]struct{}
	working     sync.WaitGroup
}

// StartProxy listens on a loopback port, and forwards connections to host and port until the test ends.
func StartProxy(t testing.TB, port int) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{
		listener: listener, target: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), open: make(chan struct{}),
		connections: map[net.Conn]struct{}{},
	}
	close(p.open)
	p.working.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Address returns the host and port on which the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Cut ends all connections and refuses new ones.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	p.hangUp()
}

// Silence drops all bytes without closing connections, as a network that loses packets does.
func (p *Proxy) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

// Delay delays all bytes, in both directions.
func (p *Proxy) Delay(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = by
}

// Heal undoes Cut, Silence and Delay. Bytes that a silence held back pass.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.delay = false, 0
	p.let()
}

func (p *Proxy) let() {
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

func (p *Proxy) hangUp() {
	for connection := range p.connections {
		_ = connection.Close() // it may be closed already
	}
}

func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	_ = p.listener.Close()
	p.let()
	p.hangUp()
	p.mu.Unlock()
	p.working.Wait()
}

func (p *Proxy) accept() {
	for {
		connection, err := p.listener.Accept()
		if err != nil {
			return
		}
		if !p.keep(connection) {
			continue
		}
		p.working.Go(func() { p.serve(connection) })
	}
}

// keep records a connection, or closes it after a Cut.
func (p *Proxy) keep(connection net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut || p.closed {
		_ = connection.Close()
		return false
	}
	p.connections[connection] = struct{}{}
	return true
}

func (p *Proxy) forget(connection net.Conn) {
	_ = connection.Close() // it may be closed already
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.connections, connection)
}

func (p *Proxy) serve(connection net.Conn) {
	defer p.forget(connection)
	target, err := net.Dial("tcp", p.target)
	if err != nil || !p.keep(target) {
		return
	}
	defer p.forget(target)
	var back sync.WaitGroup
	back.Go(func() {
		p.pass(target, connection)
		_ = connection.Close()
	})
	p.pass(connection, target)
	_ = target.Close()
	back.Wait()
}

func (p *Proxy) pass(from, to net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		open, delay := p.open, p.delay
		p.mu.Unlock()
		<-open
		if delay > 0 {
			<-time.After(delay)
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// FreePort returns a loopback port on which nobody listens. It is below the ports that systems choose for connections
// and for listeners on port 0, so that no other process gets it by chance, also while a killed server is away.
func FreePort(t testing.TB) int {
	t.Helper()
	const lowest, highest, tries = 10_000, 32_000, 1000
	var err error
	for range tries {
		port := lowest + rand.IntN(highest-lowest)
		var listener net.Listener
		if listener, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err != nil {
			continue
		}
		if err = listener.Close(); err == nil {
			return port
		}
	}
	t.Fatalf("no port is free: %v", err)
	return 0
}

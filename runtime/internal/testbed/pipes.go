package testbed

import (
	"context"
	"net"
)

// Pipes is a listener of connections inside the process, which have no buffers and, in a bubble of testing/synctest, no
// time but the bubble's.
type Pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

// NewPipes returns a listener without connections.
func NewPipes() *Pipes { return &Pipes{make(chan net.Conn), make(chan struct{})} }

// Dial waits until the listener accepts a connection, and returns the client's end. Its arguments are those of
// http.Transport's DialContext, and don't matter.
func (p *Pipes) Dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.accepted <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Accept implements net.Listener.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *Pipes) Close() error { close(p.closed); return nil }

// Addr implements net.Listener.
func (p *Pipes) Addr() net.Addr { return &net.TCPAddr{} }

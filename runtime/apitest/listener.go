package apitest

import (
	"net"
	"sync"
)

// listener knows the connections that it accepted. A client that keeps an idle HTTP/2 connection makes a graceful
// shutdown take a second; a test that is over need not wait for it.
type listener struct {
	net.Listener
	mu   sync.Mutex // guards open
	open map[net.Conn]struct{}
}

func listen() (*listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	return &listener{Listener: l, open: map[net.Conn]struct{}{}}, err
}

func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: inner, of: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = struct{}{}
	return c, nil
}

// hangUp closes all connections that are open.
func (l *listener) hangUp() {
	l.mu.Lock()
	open := l.open
	l.open = map[net.Conn]struct{}{}
	l.mu.Unlock()
	for c := range open {
		_ = c.Close() // it may have been closed in between
	}
}

// conn leaves its listener's books when it is closed.
type conn struct {
	net.Conn
	of *listener
}

func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

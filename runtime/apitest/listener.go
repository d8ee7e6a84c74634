package apitest

import (
	"net"
	"sync"
)

// listener keeps the connections that it accepted. A client with an idle HTTP/2 connection makes a graceful shutdown
// take a second, so a test closes the connections first.
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
	c := &conn{Conn: inner, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = struct{}{}
	return c, nil
}

func (l *listener) closeConnections() {
	l.mu.Lock()
	open := l.open
	l.open = map[net.Conn]struct{}{}
	l.mu.Unlock()
	for c := range open {
		_ = c.Close() // it may be closed already
	}
}

// conn is a connection that its listener forgets when it is closed.
type conn struct {
	net.Conn
	listener *listener
}

func (c *conn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

package agent

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/gorilla/websocket"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

const (
	forwardProtocol = "portforward.k8s.io"
	// tunnelPrefix begins the names of SPDY protocols that are spoken inside of a WebSocket.
	tunnelPrefix = "SPDY/3.1+"
)

// portForward forwards streams to ports of this machine. Each forwarded connection has two streams with one id: one for
// data, and one for errors.
func (a *Agent) portForward(w http.ResponseWriter, r *http.Request) {
	f := &forwarder{agent: a, pairs: map[string]*pair{}}
	var conn httpstream.Connection
	var err error
	if websocket.IsWebSocketUpgrade(r) {
		conn, err = f.tunnel(w, r)
	} else {
		conn, err = f.upgrade(w, r)
	}
	if err != nil {
		a.Logf("ports were not forwarded: %v", err)
		return
	}
	defer func() { _ = conn.Close() }() // the client may be gone
	select {
	case <-conn.CloseChan():
	case <-r.Context().Done():
	}
}

// forwarder is one client's connection.
type forwarder struct {
	agent *Agent
	mu    sync.Mutex // guards pairs
	pairs map[string]*pair
}

type pair struct{ data, fault httpstream.Stream }

func (f *forwarder) upgrade(w http.ResponseWriter, r *http.Request) (httpstream.Connection, error) {
	if _, err := httpstream.Handshake(r, w, []string{forwardProtocol}); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil, err
	}
	if conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, f.arrived); conn != nil {
		return conn, nil
	}
	return nil, errors.New("the connection could not be upgraded")
}

// tunnel speaks SPDY inside a WebSocket.
func (f *forwarder) tunnel(w http.ResponseWriter, r *http.Request) (httpstream.Connection, error) {
	upgrader := websocket.Upgrader{
		Subprotocols: []string{tunnelPrefix + forwardProtocol},
		CheckOrigin:  func(*http.Request) bool { return true }, // clients of the API server are no browsers' pages
	}
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(socket.Subprotocol(), tunnelPrefix) {
		return nil, errors.Join(fmt.Errorf("the protocol %q is not spoken here", socket.Subprotocol()), socket.Close())
	}
	return spdy.NewServerConnection(portforward.NewTunnelingConnection("server", socket), f.arrived)
}

// arrived accepts a stream and starts to forward once a pair is complete.
func (f *forwarder) arrived(stream httpstream.Stream, _ <-chan struct{}) error {
	port, err := strconv.ParseUint(stream.Headers().Get("port"), 10, 16)
	if err != nil {
		return fmt.Errorf("%q is no port", stream.Headers().Get("port"))
	}
	id := stream.Headers().Get("requestID")
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.pairs[id]
	if p == nil {
		p = &pair{}
		f.pairs[id] = p
	}
	if stream.Headers().Get(streamType) == "error" {
		p.fault = stream
	} else {
		p.data = stream
	}
	if p.fault != nil && p.data != nil {
		delete(f.pairs, id)
		go f.forward(p, int(port)) // ends with either side
	}
	return nil
}

func (f *forwarder) forward(p *pair, port int) {
	defer func() { _ = errors.Join(p.fault.Close(), p.data.Close()) }() // either side may be gone
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		fmt.Fprintf(p.fault, "port %d: %v", port, err)
		return
	}
	f.agent.Logf("port %d is forwarded", port)
	go func() { // ends when the client has said all, or the port is closed
		_, _ = io.Copy(conn, p.data)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	}()
	_, _ = io.Copy(p.data, conn) // either side may end it
	_ = conn.Close()
}

package endpoint

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/api"
	"golang.org/x/net/websocket"
)

// wantsSocket tells requests that ask for a WebSocket, as scripts in browsers do, which can't read a stream otherwise.
func wantsSocket(r *http.Request) bool {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return false
	}
	return slices.ContainsFunc(strings.Split(r.Header.Get("Connection"), ","), func(option string) bool {
		return strings.EqualFold(strings.TrimSpace(option), "upgrade")
	})
}

// socket is a watch over a WebSocket: each event is a message.
type socket struct {
	conn    *websocket.Conn
	timeout time.Duration
	// skip is how much of an event only streams have: the length that tells where it ends.
	skip int
	// message is what was written of the next one.
	message []byte
}

// Write implements io.Writer.
func (s *socket) Write(b []byte) (int, error) {
	s.message = append(s.message, b...)
	return len(b), nil
}

// send ends a message. Its buffer isn't kept: sockets rest most of the time.
func (s *socket) send() error {
	message := s.message[s.skip:]
	s.message = nil
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
		return err
	}
	_, err := s.conn.Write(message)
	return err
}

// runSocket is run over a WebSocket, which ends with whichever side closes it. What the client sends is not read but for
// its control frames.
func (s *stream) runSocket(ctx context.Context, events api.Watch) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	websocket.Handler(func(conn *websocket.Conn) {
		conn.PayloadType = websocket.BinaryFrame
		if s.format == formatJSON {
			conn.PayloadType = websocket.TextFrame
		}
		s.socket = &socket{conn: conn, timeout: s.api.writeTimeout}
		if s.format == formatProtobuf {
			s.socket.skip = eventLength
		}
		received := make(chan struct{})
		go func() {
			defer close(received)
			defer cancel()
			_, _ = io.Copy(io.Discard, conn) // its end is the client's
		}()
		s.follow(ctx, events, func() bool { return true })
		_ = conn.SetWriteDeadline(time.Now().Add(s.api.writeTimeout))
		_ = conn.Close() // which says so to the client, who may have gone
		<-received
	}).ServeHTTP(&connector{ResponseWriter: s.w}, s.r)
}

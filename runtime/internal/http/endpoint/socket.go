package endpoint

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/verb"
	"golang.org/x/net/websocket"
)

// wantsSocket reports whether a request asks for a WebSocket: scripts in browsers can't read a stream otherwise.
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
	// skip is the size of the length with which an event of a stream begins, and which a message doesn't have.
	skip int
	// message is the part of the next message that was written.
	message []byte
}

func (s *socket) Write(b []byte) (int, error) {
	s.message = append(s.message, b...)
	return len(b), nil
}

// send sends the message. It doesn't keep the buffer: a socket waits most of the time.
func (s *socket) send() error {
	message := s.message[s.skip:]
	s.message = nil
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
		return err
	}
	_, err := s.conn.Write(message)
	return err
}

// runSocket writes events to a WebSocket until one side closes it. Of the client it heeds control frames only.
func (s *eventStream) runSocket(ctx context.Context, events verb.Watch) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	websocket.Handler(func(conn *websocket.Conn) {
		conn.PayloadType = websocket.BinaryFrame
		if s.format == negotiation.JSON {
			conn.PayloadType = websocket.TextFrame
		}
		s.socket = &socket{conn: conn, timeout: s.api.writeTimeout}
		if s.format == negotiation.Protobuf {
			s.socket.skip = encoder.ProtobufEventLengthSize
		}
		received := make(chan struct{})
		go func() {
			defer close(received)
			defer cancel()
			_, _ = io.Copy(io.Discard, conn) // it ends when the client closes the connection
		}()
		s.follow(ctx, events, func() bool { return true })
		_ = conn.SetWriteDeadline(time.Now().Add(s.api.writeTimeout))
		_ = conn.Close() // the client may have closed the connection before
		<-received
	}).ServeHTTP(&connectionWriter{ResponseWriter: s.w}, s.r)
}

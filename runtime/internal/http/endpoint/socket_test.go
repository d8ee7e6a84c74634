package endpoint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	"golang.org/x/net/websocket"
)

const socketHeaders = "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nOrigin: http://x\r\n" +
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

// socketServer serves a fake over HTTP/1.1. ended receives when a request has been served.
func socketServer(t *testing.T) (host string, f *fake, ended chan struct{}) {
	a, fakes := serve(t, widgets)
	ended = make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { ended <- struct{}{} }()
		info, err := request.New(r, nil)
		if err != nil {
			t.Error(err)
		}
		a.ServeHTTP(w, r.WithContext(request.WithInfo(r.Context(), info)))
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), fakes[0], ended
}

func openSocket(t *testing.T, host, query, accept string) *websocket.Conn {
	t.Helper()
	config, err := websocket.NewConfig("ws://"+host+base+"/widgets?watch=1"+query, "http://x")
	if err != nil {
		t.Fatal(err)
	}
	config.Header.Set("Accept", accept)
	config.Protocol = []string{"base64.binary.k8s.io"}
	conn, err := config.DialContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestWatchOverASocket: each event is a message, of the type that the format asks for.
func TestWatchOverASocket(t *testing.T) {
	host, f, ended := socketServer(t)
	f.batches = [][]verb.Event{
		{{Type: api.Added, Object: rendered(verb.Form{}, "a", 1)},
			{Type: api.Modified, Object: rendered(verb.Form{}, strings.Repeat("b", streamFrameSize), 2)}},
		{{Type: api.Bookmark, Object: rendered(verb.Form{}, "", 3)}},
	}
	conn := openSocket(t, host, "&timeoutSeconds=1", "")
	for _, want := range []string{"ADDED", "MODIFIED", "BOOKMARK"} {
		var message string
		if err := websocket.Message.Receive(conn, &message); err != nil ||
			!strings.HasPrefix(message, `{"type":"`+want+`"`) || !strings.HasSuffix(message, "}\n") {
			t.Fatalf("%v %.200s, want %s", err, message, want)
		}
	}
	var rest []byte
	if err := websocket.Message.Receive(conn, &rest); !errors.Is(err, io.EOF) {
		t.Errorf("at the end of its time: %q %v", rest, err)
	}
	<-ended
}

// TestSocketsOfBinaryFormats: messages hold what streams have, without the length that only these need.
func TestSocketsOfBinaryFormats(t *testing.T) {
	for _, accept := range []string{negotiation.TypeCBOR, negotiation.TypeProtobuf +
		";stream=watch;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"} {
		host, f, ended := socketServer(t)
		event := []verb.Event{{Type: api.Added, Object: verb.Rendition{Head: "\x0a", Payload: []byte("\xa1\x41a\x01")}}}
		f.batches = [][]verb.Event{event, event}
		f.endWith = context.Canceled
		conn := openSocket(t, host, "", accept)
		for range 2 {
			frame, err := conn.NewFrameReader()
			if err != nil || frame.PayloadType() != websocket.BinaryFrame {
				t.Fatal(err, frame)
			}
			message, err := io.ReadAll(frame)
			if err != nil || !strings.HasPrefix(string(message), "\xd9\xd9\xf7\xa2") &&
				!strings.HasPrefix(string(message), "\x0a\x05ADDED") {
				t.Errorf("%s: %q %v", accept, message, err)
			}
		}
		<-ended
	}
}

// TestASocketEndsWithItsClient, however that leaves.
func TestASocketEndsWithItsClient(t *testing.T) {
	for name, frame := range map[string]string{
		"closed":           "\x88\x80\x00\x00\x00\x00",
		"not masked":       "\x81\x02hi",
		"a strange kind":   "\x8f\x80\x00\x00\x00\x00",
		"a reserved bit":   "\xf1\x80\x00\x00\x00\x00",
		"a terabyte":       "\x82\xff\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00xx",
		"a negative size":  "\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00xx",
		"a ping, and gone": "\x89\x82\x00\x00\x00\x00hi",
	} {
		t.Run(name, func(t *testing.T) {
			host, _, ended := socketServer(t)
			conn, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "GET %s/widgets?watch=1 HTTP/1.1\r\nHost: x\r\n%s\r\n%s", base, socketHeaders, frame)
			reader := bufio.NewReader(conn)
			response, err := http.ReadResponse(reader, nil)
			if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
				t.Fatal(response, err)
			}
			if strings.HasPrefix(name, "a ") { // what was sent doesn't end it
				conn.Close()
			}
			<-ended
		})
	}
}

// TestWhatSocketsNeed is what kube-apiserver asks for.
func TestWhatSocketsNeed(t *testing.T) {
	for _, c := range []struct {
		name, path, from, to string
		code                 int
	}{
		{"all", "/widgets?watch=1", "", "", 101},
		{"old path", "/watch/widgets", "", "", 101},
		{"no origin", "/widgets?watch=1", "Origin: http://x\r\n", "", 403},
		{"null origin", "/widgets?watch=1", "http://x", "null", 403},
		{"no key", "/widgets?watch=1", "Sec-WebSocket-Key: ", "X: ", 400},
		{"old version", "/widgets?watch=1", "Version: 13", "Version: 8", 400},
		{"two protocols", "/widgets?watch=1", "Origin", "Sec-WebSocket-Protocol: a, b\r\nOrigin", 400},
		{"another upgrade", "/widgets?watch=1", "WebSocket\r\n", "SPDY/3.1\r\n", 200},
		{"no upgrade of the connection", "/widgets?watch=1", "keep-alive, Upgrade", "keep-alive", 200},
		{"a list", "/widgets", "", "", 200},
		{"bad options", "/widgets?watch=1&labelSelector=!!", "", "", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			host, f, ended := socketServer(t)
			f.endWith = context.Canceled
			conn, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", base+c.path,
				strings.Replace(socketHeaders, c.from, c.to, 1))
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || response.StatusCode != c.code {
				t.Errorf("%v %v, want %d", response, err, c.code)
			}
			<-ended
		})
	}
}

// TestAStalledSocketIsCutOff: who doesn't read holds what a message takes, for as long as other clients may.
func TestAStalledSocketIsCutOff(t *testing.T) {
	a, fakes := serve(t, widgets)
	a.writeTimeout = 50 * time.Millisecond
	large := verb.Rendition{Payload: []byte(`"a":"` + strings.Repeat("x", 8<<20) + `"}`)}
	for range 4 {
		fakes[0].batches = append(fakes[0].batches, []verb.Event{{Type: api.Added, Object: large}})
	}
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		info, _ := request.New(r, nil)
		a.ServeHTTP(w, r.WithContext(request.WithInfo(r.Context(), info)))
	}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s/widgets?watch=1 HTTP/1.1\r\nHost: x\r\n%s\r\n", base, socketHeaders)
	<-ended
}

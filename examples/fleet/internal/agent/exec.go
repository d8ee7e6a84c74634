package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// The protocols of remote commands: over SPDY, and over WebSocket.
const (
	commandProtocol  = "v4.channel.k8s.io"
	commandProtocol5 = "v5.channel.k8s.io" // has a signal for the end of an input
	streamType       = "streamType"
	// streamsTimeout is how long a client may take to open its streams.
	streamsTimeout = 10 * time.Second
)

// terminal connects a client and a command. Streams that the client did not ask for are nil.
type terminal struct {
	stdin          io.Reader
	stdout, stderr io.WriteCloser
	result         io.WriteCloser
	close          func()
}

// exec runs a command of the query.
func (a *Agent) exec(w http.ResponseWriter, r *http.Request) {
	a.serve(w, r, r.URL.Query()["command"])
}

// attach connects to a running command, which echoes its input.
func (a *Agent) attach(w http.ResponseWriter, r *http.Request) { a.serve(w, r, []string{"cat"}) }

func (a *Agent) serve(w http.ResponseWriter, r *http.Request, words []string) {
	if len(words) == 0 {
		http.Error(w, "there is no command", http.StatusBadRequest)
		return
	}
	open := openSPDY
	if wsstream.IsWebSocketRequest(r) {
		open = openWebSocket
	}
	t, err := open(w, r)
	if err != nil {
		a.Logf("%s was not served: %v", words[0], err)
		return
	}
	defer t.close()
	c := command{words: words, stdin: t.stdin}
	if t.stdout != nil {
		c.stdout = t.stdout
	}
	if t.stderr != nil {
		c.stderr = t.stderr
	}
	code := c.run(r.Context())
	a.Logf("%s ended with %d", words[0], code)
	if err := t.report(code); err != nil {
		a.Logf("%s: its result could not be told: %v", words[0], err)
	}
}

// report sends the client the exit status of a command.
func (t *terminal) report(code int) error {
	status := metav1.Status{Status: metav1.StatusSuccess}
	if code != 0 {
		status = metav1.Status{
			Status: metav1.StatusFailure, Reason: "NonZeroExitCode",
			Message: fmt.Sprintf("command terminated with non-zero exit code: %d", code),
			Details: &metav1.StatusDetails{
				Causes: []metav1.StatusCause{{Type: "ExitCode", Message: strconv.Itoa(code)}},
			},
		}
	}
	data, err := json.Marshal(status)
	if err != nil {
		return err
	}
	_, err = t.result.Write(data)
	return err
}

// wanted returns the streams that a query asks for.
func wanted(r *http.Request) []string {
	streams := []string{"error"}
	for _, name := range []string{"stdin", "stdout", "stderr"} {
		if asks, err := strconv.ParseBool(r.URL.Query().Get(name)); err == nil && asks {
			streams = append(streams, name)
		}
	}
	return streams
}

func openWebSocket(w http.ResponseWriter, r *http.Request) (*terminal, error) {
	streams := wanted(r)
	channels := []wsstream.ChannelType{wsstream.ReadChannel, wsstream.WriteChannel, wsstream.WriteChannel,
		wsstream.WriteChannel, wsstream.ReadChannel}
	for i, name := range []string{"stdin", "stdout", "stderr"} {
		if !slices.Contains(streams, name) {
			channels[i] = wsstream.IgnoreChannel
		}
	}
	protocol := wsstream.ChannelProtocolConfig{Binary: true, Channels: channels}
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{commandProtocol: protocol,
		commandProtocol5: protocol})
	_, opened, err := conn.Open(w, r)
	if err != nil {
		return nil, err
	}
	t := &terminal{result: opened[3], close: func() { _ = conn.Close() }} // the client may be gone
	if slices.Contains(streams, "stdin") {
		t.stdin = opened[0]
	}
	if slices.Contains(streams, "stdout") {
		t.stdout = opened[1]
	}
	if slices.Contains(streams, "stderr") {
		t.stderr = opened[2]
	}
	return t, nil
}

func openSPDY(w http.ResponseWriter, r *http.Request) (*terminal, error) {
	if _, err := httpstream.Handshake(r, w, []string{commandProtocol}); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil, err
	}
	arrived := make(chan httpstream.Stream)
	ctx, cancel := context.WithTimeout(r.Context(), streamsTimeout)
	defer cancel()
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		select {
		case arrived <- stream:
			return nil
		case <-ctx.Done():
			return errors.New("the stream came too late")
		}
	})
	if conn == nil {
		return nil, errors.New("the connection could not be upgraded")
	}
	t := &terminal{close: func() { _ = conn.Close() }} // the client may be gone
	for range wanted(r) {
		select {
		case stream := <-arrived:
			switch stream.Headers().Get(streamType) {
			case "error":
				t.result = stream
			case "stdin":
				t.stdin = stream
			case "stdout":
				t.stdout = stream
			case "stderr":
				t.stderr = stream
			}
		case <-ctx.Done():
			t.close()
			return nil, errors.New("the client did not open its streams in time")
		}
	}
	if t.result == nil {
		t.close()
		return nil, errors.New("the client opened no stream for the result")
	}
	return t, nil
}

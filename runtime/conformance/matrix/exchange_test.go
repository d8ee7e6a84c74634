package matrix

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// answer is one answer of a server. failure says what ended the exchange without one.
type answer struct {
	failure string
	code    int
	header  http.Header
	body    []byte
}

const patience = 40 * time.Second

// exchange sends m on a connection of its own and returns the answers.
func (w *world) exchange(m message, how, id string) ([]answer, error) {
	config := w.tls.Clone()
	if certificate, ok := w.certificates[m.certificate]; ok {
		// The client sends it whatever authorities the server names.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return certificate, nil
		}
	} else if m.certificate != "" {
		return nil, fmt.Errorf("there is no certificate %q", m.certificate)
	}
	config.NextProtos = []string{"http/1.1"}
	if how == secondProtocol {
		config.NextProtos = []string{"h2"}
	}
	connection, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", w.host, config)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if how == secondProtocol {
		one, err := exchangeFrames(connection, m, w.host, id)
		return []answer{one}, err
	}
	return exchangeBytes(connection, m, m.text(w.host, id))
}

func exchangeBytes(connection net.Conn, m message, text string) ([]answer, error) {
	sent := make(chan struct{})
	go func() { // the server may answer, and close, before it has read everything
		defer close(sent)
		_, _ = io.WriteString(connection, text)
	}()
	defer func() { connection.Close(); <-sent }()
	reader := bufio.NewReader(connection)
	var answers []answer
	for range m.answers {
		response, err := http.ReadResponse(reader, &http.Request{Method: m.method})
		if err != nil {
			return append(answers, answer{failure: "closed the connection"}), nil
		}
		if response.StatusCode == http.StatusSwitchingProtocols {
			return append(answers, answer{code: response.StatusCode, header: response.Header}), nil
		}
		body, err := readLines(response.Body, m.events)
		if err != nil {
			return nil, fmt.Errorf("the answer has no end: %w", err)
		}
		answers = append(answers, answer{code: response.StatusCode, header: response.Header, body: body})
	}
	return answers, nil
}

// readLines reads so many lines, or everything if it is 0.
func readLines(body io.Reader, lines int) ([]byte, error) {
	if lines == 0 {
		return io.ReadAll(body)
	}
	var all bytes.Buffer
	reader := bufio.NewReader(body)
	for range lines {
		line, err := reader.ReadBytes('\n')
		all.Write(line)
		if err == io.EOF {
			return all.Bytes(), nil // an error instead of events
		}
		if err != nil {
			return nil, err
		}
	}
	return all.Bytes(), nil
}

// exchangeFrames sends m in frames of HTTP/2, without a library that would mend it.
func exchangeFrames(connection net.Conn, m message, host, id string) (answer, error) {
	if _, err := io.WriteString(connection, http2.ClientPreface); err != nil {
		return answer{}, err
	}
	framer := http2.NewFramer(connection, connection)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := framer.WriteSettings(); err != nil {
		return answer{}, err
	}
	err := framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: m.fields(host, id), EndHeaders: true, EndStream: m.body == "",
	})
	if err == nil && m.body != "" {
		err = framer.WriteData(1, true, []byte(m.body))
	}
	if err != nil {
		return answer{}, err
	}
	a := answer{header: http.Header{}}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			a.failure = "closed the connection"
			return a, nil //nolint:nilerr // what the server does to the connection is its answer
		}
		ended, err := a.read(framer, frame)
		if ended || err != nil || m.events > 0 && bytes.Count(a.body, []byte("\n")) >= m.events {
			return a, err
		}
	}
}

// read takes a frame over into the answer, and reports whether it was the last.
func (a *answer) read(framer *http2.Framer, frame http2.Frame) (ended bool, err error) {
	switch frame := frame.(type) {
	case *http2.SettingsFrame:
		if !frame.IsAck() {
			return false, framer.WriteSettingsAck()
		}
	case *http2.PingFrame:
		return false, framer.WritePing(true, frame.Data)
	case *http2.MetaHeadersFrame:
		if status := frame.PseudoValue("status"); status != "" {
			_, err = fmt.Sscan(status, &a.code)
		}
		for _, field := range frame.RegularFields() {
			a.header.Add(field.Name, field.Value)
		}
		return frame.StreamEnded(), err
	case *http2.DataFrame:
		a.body = append(a.body, frame.Data()...)
		return frame.StreamEnded(), nil
	case *http2.RSTStreamFrame:
		a.failure = "reset the stream: " + frame.ErrCode.String()
		return true, nil
	case *http2.GoAwayFrame:
		if frame.ErrCode != http2.ErrCodeNo {
			a.failure = "ended the connection: " + frame.ErrCode.String()
			return true, nil
		}
	}
	return false, nil
}

// fields is the block of headers of m. Lines that begin with a colon replace pseudo-headers; a second one of the same
// name is sent, too.
func (m *message) fields(host, id string) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	put := func(name, value string) {
		_ = encoder.WriteField(hpack.HeaderField{Name: name, Value: value}) // into memory
	}
	for _, pseudo := range [][2]string{
		{":method", m.method}, {":scheme", "https"}, {":authority", host}, {":path", m.target},
	} {
		if !m.has(pseudo[0]) {
			put(pseudo[0], pseudo[1])
		}
	}
	lines := m.headers
	for len(lines) > 0 && strings.HasPrefix(lines[0], ":") { // they come first
		put(split(lines[0], m.exact))
		lines = lines[1:]
	}
	if !m.has("audit-id") {
		put("audit-id", id)
	}
	for _, line := range lines {
		put(split(line, m.exact))
	}
	if m.body != "" && !m.has("content-length") {
		put("content-length", fmt.Sprint(len(m.body)))
	}
	return block.Bytes()
}

// split divides the line of a header into name and value. exact leaves the name in the client's case.
func split(line string, exact bool) (name, value string) {
	colon := strings.Index(line[1:], ":") + 1
	if colon == 0 {
		colon = len(line) - 1
	}
	if name = line[:colon]; !exact {
		name = strings.ToLower(name)
	}
	return name, strings.TrimPrefix(line[colon+1:], " ")
}

package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// attacker speaks HTTP/2 frame by frame.
type attacker struct {
	t *testing.T
	*http2.Framer
	host string
}

// attackFrames opens a connection, and returns the bound of streams that the server announces.
func (v *victim) attackFrames(t *testing.T, settings ...http2.Setting) (a *attacker, streams uint32) {
	t.Helper()
	connection := v.dial(t)
	if _, err := io.WriteString(connection, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	a = &attacker{t, http2.NewFramer(connection, connection), v.host}
	if err := a.WriteSettings(settings...); err != nil {
		t.Fatal(err)
	}
	frame, err := a.ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	announced, ok := frame.(*http2.SettingsFrame)
	if !ok {
		t.Fatalf("the server began with %v", frame)
	}
	streams, _ = announced.Value(http2.SettingMaxConcurrentStreams)
	return a, streams
}

// head encodes a read of the administrator.
func (a *attacker) head(path string, more ...hpack.HeaderField) []byte {
	return a.headOf("GET", path, adminToken, more...)
}

// headOf encodes a request. The encoder keeps no table: each block stands for itself.
func (a *attacker) headOf(method, path, token string, more ...hpack.HeaderField) []byte {
	var b bytes.Buffer
	encoder := hpack.NewEncoder(&b)
	encoder.SetMaxDynamicTableSizeLimit(0)
	for _, field := range append([]hpack.HeaderField{
		{Name: ":method", Value: method}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: a.host},
		{Name: ":path", Value: path}, {Name: "authorization", Value: "Bearer " + token},
	}, more...) {
		if err := encoder.WriteField(field); err != nil {
			a.t.Fatal(err)
		}
	}
	return b.Bytes()
}

// until reads frames until one ends the connection, or stops is true of one.
func (a *attacker) until(stops func(http2.Frame) bool) error {
	for {
		frame, err := a.ReadFrame()
		if err != nil {
			return err
		}
		if goAway, ok := frame.(*http2.GoAwayFrame); ok {
			return fmt.Errorf("GOAWAY %s", goAway.ErrCode)
		}
		if stops(frame) {
			return nil
		}
	}
}

// TestStreamLimit: a client that has more requests at once than the server announced is refused those.
func TestStreamLimit(t *testing.T) {
	victim, ended := startDelayed(t, Config{Limits: Limits{MaxStreams: 3}})
	a, streams := victim.attackFrames(t)
	if streams != 3 {
		t.Errorf("the server announces %d", streams)
	}
	for i := range uint32(4) {
		err := a.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, EndHeaders: true, EndStream: true,
			BlockFragment: a.head(victim.base + "?watch=true")})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := a.until(func(f http2.Frame) bool {
		reset, ok := f.(*http2.RSTStreamFrame)
		if ok && (reset.StreamID != 7 || reset.ErrCode != http2.ErrCodeRefusedStream &&
			reset.ErrCode != http2.ErrCodeProtocol) {
			t.Errorf("stream %d was reset with %s", reset.StreamID, reset.ErrCode)
		}
		return ok
	})
	if err != nil {
		t.Errorf("the fourth watch was not refused alone: %v", err)
	}
	victim.lists(t)
	ended.stop()
	if err := <-ended.err; err != nil {
		t.Error(err)
	}
}

// TestRapidReset: a client that asks and takes it back, without waiting for anything, is disconnected, or at least
// harms nobody else.
func TestRapidReset(t *testing.T) {
	t.Parallel()
	victim := startVictim(t)
	a, _ := victim.attackFrames(t)
	go func() { // the server may close the connection at any time
		for i := range uint32(20_000) {
			err := errors.Join(
				a.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, EndHeaders: true, EndStream: true,
					BlockFragment: a.head(victim.base)}),
				a.WriteRSTStream(2*i+1, http2.ErrCodeCancel))
			if err != nil {
				return
			}
		}
		_ = a.WritePing(false, [8]byte{1}) // the answer comes after everything before it
	}()
	read := make(chan error, 1)
	go func() {
		read <- a.until(func(f http2.Frame) bool {
			ping, ok := f.(*http2.PingFrame)
			return ok && ping.IsAck()
		})
	}()
	victim.lists(t)
	if err := <-read; err != nil {
		t.Logf("the server ended the attack: %v", err)
	}
	victim.lists(t)
}

// TestHeaderFlood: headers that never end are not collected: beyond the bound, the connection ends.
func TestHeaderFlood(t *testing.T) {
	t.Parallel()
	victim := startVictim(t)
	a, _ := victim.attackFrames(t)
	filler := a.head(victim.base, hpack.HeaderField{Name: "x-filler", Value: strings.Repeat("~", 8<<10)})
	if err := a.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: filler}); err != nil {
		t.Fatal(err)
	}
	var more bytes.Buffer
	encoder := hpack.NewEncoder(&more)
	encoder.SetMaxDynamicTableSizeLimit(0)
	if err := encoder.WriteField(hpack.HeaderField{Name: "x-filler", Value: strings.Repeat("~", 8<<10)}); err != nil {
		t.Fatal(err)
	}
	const enough = 64 << 20
	sent := 0
	for sent < enough {
		if err := a.WriteContinuation(1, false, more.Bytes()); err != nil {
			break
		}
		sent += more.Len()
	}
	if sent >= enough {
		t.Errorf("the server took %d bytes of headers", sent)
	}
	victim.lists(t)
}

// TestLargeHeader: headers within a request, but beyond the bound, get 431.
func TestLargeHeader(t *testing.T) {
	victim := startVictim(t)
	code, _ := victim.send(t, hostile{Raw: text("GET / HTTP/1.1\r\nHost: {host}\r\nX-Filler: " +
		strings.Repeat("~", 2<<20) + "\r\n\r\n")}, victim.filler("x"))
	if code != 431 {
		t.Errorf("%d", code)
	}
}

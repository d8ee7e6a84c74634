package gather

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// counted is a connection that counts what is written to it, and fails when it shall.
type counted struct {
	net.Conn
	writes atomic.Int64
	broken error
}

func (c *counted) Write(b []byte) (int, error) {
	c.writes.Add(1)
	if c.broken != nil {
		return 0, c.broken
	}
	return c.Conn.Write(b)
}

// connected returns the two ends of a connection of TCP.
func connected(t testing.TB) (in, out net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	out, err = net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	in, err = listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); out.Close() })
	return in, out
}

// gathered is a TLS connection over a Conn, and what its other end reads.
func gathered(t testing.TB, version uint16) (server *tls.Conn, below *counted, client io.Reader) {
	t.Helper()
	in, out := connected(t)
	given := httptest.NewUnstartedServer(nil)
	given.StartTLS() // for its certificate
	defer given.Close()
	below = &counted{Conn: in}
	server = tls.Server(&Conn{Conn: below}, &tls.Config{
		Certificates: given.TLS.Certificates, MinVersion: version, MaxVersion: version,
		DynamicRecordSizingDisabled: true,
	})
	peer := tls.Client(out, &tls.Config{InsecureSkipVerify: true})
	shaken := make(chan error, 1)
	go func() { shaken <- peer.Handshake() }()
	if err := errors.Join(server.Handshake(), <-shaken); err != nil {
		t.Fatal(err)
	}
	below.writes.Store(0)
	return server, below, peer
}

// TestGatheringKeepsEveryByte writes pieces of all sizes, those of full records and frames among them, and each arrives
// with nothing written behind it.
func TestGatheringKeepsEveryByte(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		server, _, client := gathered(t, version)
		random := rand.New(rand.NewPCG(1, uint64(version)))
		sizes := []int{1, 9, recordSize - 1, recordSize, recordSize + 1, recordSize + http2HeaderSize,
			2 * recordSize, gatherSize, 200_000}
		for i := range 300 {
			size := random.IntN(3 * recordSize)
			if i%2 == 0 {
				size = sizes[random.IntN(len(sizes))]
			}
			piece, got := bytes.Repeat([]byte{byte(i)}, size), make([]byte, size)
			written := make(chan error, 1)
			go func() {
				_, err := server.Write(piece)
				written <- err
			}()
			if _, err := io.ReadFull(client, got); err != nil || !bytes.Equal(got, piece) {
				t.Fatalf("%d bytes in TLS %x: other bytes arrived, %v", size, version, err)
			}
			if err := <-written; err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestGatheringWritesSeldom counts the system calls of 4 MiB in frames of HTTP/2, each a write of its own.
func TestGatheringWritesSeldom(t *testing.T) {
	const frames = 256
	server, below, client := gathered(t, tls.VersionTLS13)
	read := make(chan error, 1)
	go func() {
		_, err := io.CopyN(io.Discard, client, frames*(recordSize+http2HeaderSize))
		read <- err
	}()
	frame := make([]byte, recordSize+http2HeaderSize)
	for range frames {
		if _, err := server.Write(frame); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	// Nearly four frames at a time; the timer may have split some where the machine was busy.
	if n := below.writes.Load(); 2*n >= frames {
		t.Errorf("%d frames took %d writes", frames, n)
	}
}

// TestGatheringTellsErrors: what was held and could not be written fails the next Write.
func TestGatheringTellsErrors(t *testing.T) {
	server, below, _ := gathered(t, tls.VersionTLS13)
	below.broken = errors.New("gone")
	_, err := server.Write(make([]byte, recordSize))
	for end := time.Now().Add(time.Minute); err == nil && time.Now().Before(end); {
		_, err = server.Write([]byte("x"))
	}
	if !errors.Is(err, below.broken) {
		t.Errorf("%v, want %v", err, below.broken)
	}
}

// TestSmallAnswersAreNotHeld: a record that isn't full is written before Write returns.
func TestSmallAnswersAreNotHeld(t *testing.T) {
	server, below, client := gathered(t, tls.VersionTLS13)
	for _, size := range []int{1, http2HeaderSize, 1000, recordSize - 100} {
		before := below.writes.Load()
		if _, err := server.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if n := below.writes.Load() - before; n != 1 {
			t.Errorf("%d writes for %d bytes", n, size)
		}
		if _, err := io.CopyN(io.Discard, client, int64(size)); err != nil {
			t.Fatal(err)
		}
	}
}

// sizes is a connection that takes every byte, and notes the sizes of its writes.
type sizes struct {
	net.Conn
	written []int
}

func (c *sizes) Write(b []byte) (int, error) {
	c.written = append(c.written, len(b))
	return len(b), nil
}

func (*sizes) SetWriteDeadline(time.Time) error { return nil }

// TestAnnouncedBodies: a header waits for the body that was announced, and both are one write. What was announced and
// doesn't come holds nothing back for long.
func TestAnnouncedBodies(t *testing.T) {
	const body = 1000
	for name, test := range map[string]struct {
		announced    []int // before each record
		records      []int // their sizes
		atOnce, then []int
	}{
		"a header, and the body":      {[]int{body}, []int{50, body}, []int{50 + body}, nil},
		"both in one record":          {[]int{body}, []int{50 + body}, []int{50 + body}, nil},
		"a body that is smaller":      {[]int{10}, []int{50, 10}, []int{50, 10}, nil},
		"headers of two answers":      {[]int{body, body}, []int{50, 50, body, body}, []int{100 + body, body}, nil},
		"nothing was announced":       {nil, []int{50, body}, []int{50, body}, nil},
		"a header, and a full record": {[]int{3 * recordSize}, []int{50, recordSize, 10}, []int{60 + recordSize}, nil},
		"a header without a body":     {[]int{body}, []int{50}, nil, []int{50}},
		"a header, and a full record without a rest": {[]int{3 * recordSize}, []int{50, recordSize}, nil,
			[]int{50 + recordSize}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				below := &sizes{}
				conn := &Conn{Conn: below}
				written := func() []int {
					conn.mu.Lock()
					defer conn.mu.Unlock()
					return slices.Clone(below.written)
				}
				for i, size := range test.records {
					if i < len(test.announced) {
						conn.Announce(test.announced[i])
					}
					record := make([]byte, size)
					record[0], record[3], record[4] = recordData, byte(size>>8), byte(size)
					if _, err := conn.Write(record); err != nil {
						t.Fatal(err)
					}
				}
				if got := written(); !slices.Equal(got, test.atOnce) {
					t.Errorf("writes of %v, want %v", got, test.atOnce)
				}
				time.Sleep(3 * headerTime)
				if got, want := written(), slices.Concat(test.atOnce, test.then); !slices.Equal(got, want) {
					t.Errorf("later writes of %v, want %v", got, want)
				}
			})
		})
	}
}

type connKey struct{}

// TestSmallAnswers counts the writes of answers of HTTP/2 whose handlers announce the body.
func TestSmallAnswers(t *testing.T) {
	const answers = 200
	var writes atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Context().Value(connKey{}).(*Conn).Announce(1000)
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(make([]byte, 1000))
	}))
	server.EnableHTTP2 = true
	server.Listener = Listener{countedListener{server.Listener, &writes}}
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, Below(c))
	}
	server.StartTLS()
	defer server.Close()
	for range answers {
		response, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, response.Body); n != 1000 || err != nil {
			t.Fatal(n, err)
		}
		response.Body.Close()
	}
	if n := writes.Load(); n >= answers*3/2 { // nearly two for each without announcements
		t.Errorf("%d answers took %d writes", answers, n)
	}
}

// TestBelow: there is no Conn below a connection that Listener did not make.
func TestBelow(t *testing.T) {
	in, _ := connected(t)
	for _, c := range []net.Conn{in, tls.Server(in, &tls.Config{})} {
		if found := Below(c); found != nil {
			t.Errorf("%T has %v below", c, found)
		}
	}
	made := &Conn{Conn: in}
	if found := Below(tls.Server(made, &tls.Config{})); found != made {
		t.Errorf("%v, want %v", found, made)
	}
}

// BenchmarkLargeAnswer sends 16 MiB by HTTP/2, as a LIST of 10,000 objects does.
func BenchmarkLargeAnswer(b *testing.B) {
	const size = 16 << 20
	var writes atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		piece := make([]byte, 128<<10)
		for range size / len(piece) {
			if _, err := w.Write(piece); err != nil {
				b.Error(err)
			}
		}
	}))
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{DynamicRecordSizingDisabled: true}
	server.Listener = Listener{countedListener{server.Listener, &writes}}
	server.StartTLS()
	defer server.Close()
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		response, err := server.Client().Get(server.URL)
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, response.Body); n != size || err != nil {
			b.Fatal(n, err)
		}
		response.Body.Close()
	}
	b.ReportMetric(float64(writes.Load())/float64(b.N), "writes/op")
}

type countedListener struct {
	net.Listener
	writes *atomic.Int64
}

func (l countedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return countedConn{conn, l.writes}, err
}

type countedConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countedConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
)

// server is one of the two, with its etcd.
type server struct {
	name, title   string // of its files, and of its column in the table
	program       string // the Go package that it is built from
	binary        string // a file in place of program, or ""
	stored, other string // versions of flunders
	client        string // the name of the certificate of clients
	flags         []string
	// prepare does what is left when the server is ready; nil if there is nothing.
	prepare       func(ctx context.Context, s *server, a *authority) error
	url           string
	tls           *tls.Config
	file          func(name string) string // where the programs, and what authenticates them, are
	process, etcd *process
}

// collection returns the URL of all flunders.
func (s *server) collection(version string) string {
	return s.url + "/apis/wardle.example.com/" + version + "/namespaces/default/flunders"
}

// client has a connection of its own.
type client struct {
	*server
	http *http.Client
}

func (s *server) newClient() *client {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	return &client{server: s, http: &http.Client{Transport: &http.Transport{TLSClientConfig: s.tls.Clone(),
		Protocols: protocols, DisableCompression: true}}}
}

// request is what a client sends. The zero values of method and accept are GET and JSON.
type request struct {
	method, url, accept, contentType string
	body                             []byte
	gzip                             bool
}

// open sends a request, and returns the answer if it succeeded. The caller closes its body.
func (c *client) open(ctx context.Context, r request) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept", "application/json")
	if r.accept != "" {
		q.Header.Set("Accept", r.accept)
	}
	if r.body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	if r.contentType != "" {
		q.Header.Set("Content-Type", r.contentType)
	}
	if r.gzip {
		q.Header.Set("Accept-Encoding", "gzip")
	}
	response, err := c.http.Do(q)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		defer response.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(response.Body, 500))
		return nil, fmt.Errorf("%s %s: %s: %s", r.method, r.url, response.Status, text)
	}
	return response, nil
}

// skip sends a request and reads the answer without a look at it.
func (c *client) skip(ctx context.Context, r request) error {
	response, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// get sends a request and returns the body, decompressed. It fails if gzip was asked for and the body isn't so.
func (c *client) get(ctx context.Context, r request) ([]byte, error) {
	response, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if !r.gzip {
		return io.ReadAll(response.Body)
	}
	if coding := response.Header.Get("Content-Encoding"); coding != "gzip" {
		return nil, fmt.Errorf("the answer has the coding %q, not gzip", coding)
	}
	plain, err := gzip.NewReader(response.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(plain)
}

// concurrently runs n operations on clients, and returns the first error.
func concurrently(
	ctx context.Context, clients []*client, n int, operate func(context.Context, *client, int) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var running sync.WaitGroup
	for _, c := range clients {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := operate(ctx, c, int(i)); err != nil {
					cancel(err)
				}
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

func (s *server) newClients(n int) []*client {
	clients := make([]*client, n)
	for i := range clients {
		clients[i] = s.newClient()
	}
	return clients
}

func closeAll(clients []*client) {
	for _, c := range clients {
		c.http.CloseIdleConnections()
	}
}

// name names an object of those that all rows read.
func name(i int) string { return fmt.Sprintf("object-%06d", i) }

// flunder returns the JSON of an object to create. One in a hundred has the label rare. The annotations differ from
// object to object, and gzip makes half of them: text that compresses to nothing would flatter compression.
func (s *server) flunder(name string, i int) []byte {
	reference := map[string]string{"v1alpha1": "reference", "v1beta1": "flunderReference"}[s.stored]
	labels := map[string]string{"part": strconv.Itoa(i % 10)}
	if i%100 == 0 {
		labels["rare"] = "yes"
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "wardle.example.com/" + s.stored, "kind": "Flunder",
		"metadata": map[string]any{"name": name, "labels": labels, "annotations": map[string]string{
			"turn": "none", "first": digits(i, 350), "second": digits(-i, 350)}},
		"spec": map[string]any{reference: "another", "referenceType": "Flunder"},
	})
	if err != nil {
		panic(err) // strings can be encoded
	}
	return body
}

// digits returns n hexadecimal digits, always the same for a seed.
func digits(seed, n int) string {
	source, text := rand.New(rand.NewPCG(uint64(seed), 0)), make([]byte, n)
	for i := range text {
		text[i] = "0123456789abcdef"[source.IntN(16)]
	}
	return string(text)
}

// fill creates the objects, and returns the size of one as the server answers it.
func (s *server) fill(ctx context.Context, o options) (int, error) {
	clients := s.newClients(o.clients)
	defer closeAll(clients)
	err := concurrently(ctx, clients, o.objects, func(ctx context.Context, c *client, i int) error {
		return c.skip(ctx, request{method: http.MethodPost, url: s.collection(s.stored), body: s.flunder(name(i), i)})
	})
	if err != nil {
		return 0, err
	}
	text, err := clients[0].get(ctx, request{url: s.collection(s.stored) + "/" + name(0)})
	return len(text), err
}

var heapAlloc = regexp.MustCompile(`(?m)^# HeapAlloc = (\d+)$`)

// heap returns the bytes of the server's heap after garbage collections: what pools and finalizers hold takes more than
// one.
func (s *server) heap(ctx context.Context) (float64, error) {
	c := s.newClient()
	defer c.http.CloseIdleConnections()
	var text []byte
	var err error
	for range 3 {
		if text, err = c.get(ctx, request{url: s.url + "/debug/pprof/heap?gc=1&debug=1", accept: "*/*"}); err != nil {
			return 0, err
		}
	}
	found := heapAlloc.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("%s reports no HeapAlloc", s.name)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

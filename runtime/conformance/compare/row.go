package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// row is one line of the table.
type row struct {
	name string
	// operations is how many operations a round has. For rows that read all objects, it is the number with 10,000 of
	// them; with fewer objects there are more operations, so that a round takes as much time.
	operations int
	// all reports whether an operation reads all objects.
	all bool
	// reads reports whether an operation reads one object, of which there may be fewer than operations.
	reads bool
	// etcd reports whether the time of etcd counts, too.
	etcd bool
	// check looks at an answer of a server in full, before the first round; nil if operate itself does.
	check func(ctx context.Context, c *client, o options) error
	// begin prepares a round.
	begin func(ctx context.Context, t turn) (work, error)
}

// turn is what a row does with one server in one round.
type turn struct {
	*server
	options
	clients []*client
	// label is different for each row and round, so that each write changes something.
	label string
	// most bounds the numbers of operations, those that warm up included.
	most int
}

// work is what is measured.
type work struct {
	operate func(ctx context.Context, c *client, i int) error
	// settle waits until n operations have had their effect; nil if operate does so.
	settle func(ctx context.Context, n int) error
	// weight is how many operations of the table an operation is, if it isn't 1.
	weight int
	// end releases what begin made; nil if there is nothing.
	end func(ctx context.Context) error
}

func (r row) count(o options) int {
	n := r.operations * o.scale / 100
	switch {
	case r.all:
		n = n * 10000 / o.objects
	case !r.reads:
		n = min(n, o.objects/2) // so that each object is written once
	}
	return max(n, 1)
}

// warm returns how many operations come before those that are measured.
func (r row) warm(o options) int { return max(r.count(o)/10, o.clients) }

func (r row) verify(ctx context.Context, s *server, o options) error {
	if r.check == nil {
		return nil
	}
	c := s.newClient()
	defer c.http.CloseIdleConnections()
	return r.check(ctx, c, o)
}

// round measures one server once: the CPU time in seconds, and the number of operations.
func (r row) round(ctx context.Context, s *server, o options, round int) (seconds float64, n int, err error) {
	n = r.count(o)
	warm := r.warm(o)
	label := fmt.Sprintf("%s-%d", strings.ToLower(nonLetters.ReplaceAllString(r.name, "-")), round)
	t := turn{server: s, options: o, clients: s.newClients(o.clients), label: label, most: n + warm}
	defer closeAll(t.clients)
	w, err := r.begin(ctx, t)
	if err != nil {
		return 0, 0, err
	}
	if err = w.run(ctx, t.clients, n, warm); err != nil {
		return 0, 0, err
	}
	before, err := r.cpu(s)
	if err != nil {
		return 0, 0, err
	}
	if err = w.run(ctx, t.clients, 0, n); err != nil {
		return 0, 0, err
	}
	after, err := r.cpu(s)
	if err == nil && w.end != nil {
		err = w.end(ctx)
	}
	return after - before, n * max(w.weight, 1), err
}

var nonLetters = regexp.MustCompile(`[^A-Za-z0-9]+`)

func (r row) cpu(s *server) (float64, error) {
	own, err := s.process.cpu()
	if err != nil || !r.etcd {
		return own, err
	}
	stored, err := s.etcd.cpu()
	return own + stored, err
}

// run does the operations from the first on.
func (w work) run(ctx context.Context, clients []*client, first, n int) error {
	err := concurrently(ctx, clients, n, func(ctx context.Context, c *client, i int) error {
		return w.operate(ctx, c, first+i)
	})
	if err != nil || w.settle == nil {
		return err
	}
	return w.settle(ctx, n)
}

const metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

var rows = []row{
	list("LIST with gzip, `resourceVersion=0`", 30, listing{query: "resourceVersion=0", gzip: true}),
	list("LIST with gzip, consistent", 30, listing{gzip: true}),
	list("LIST with gzip, in pages of 500", 20, listing{query: "limit=500", gzip: true}),
	list("LIST, `resourceVersion=0`", 30, listing{query: "resourceVersion=0"}),
	list("LIST, consistent", 30, listing{}),
	list("LIST in pages of 500", 20, listing{query: "limit=500"}),
	list("LIST by a label that 1 % of the objects have", 1500,
		listing{query: "resourceVersion=0&labelSelector=rare%3Dyes", share: 100}),
	watchList("WatchList", false),
	watchList("WatchList in the version that is not stored", true),
	list("LIST of metadata alone", 30, listing{query: "resourceVersion=0", accept: metadataList}),
	get("GET, `resourceVersion=0`", "?resourceVersion=0", false),
	get("GET, consistent, with etcd's share", "", true),
	{name: "create", operations: 2000, begin: beginCreate},
	{name: "update", operations: 2000, begin: beginUpdate},
	{name: "merge patch", operations: 2000, begin: beginPatch},
	{name: "one event for one of the watchers, with its share of the write", operations: 300, begin: beginEvents},
}

// listing is a LIST.
type listing struct {
	query, accept string
	gzip          bool
	// share is one in how many objects it finds, if it isn't 1.
	share int
}

func list(name string, operations int, l listing) row {
	return row{name: name, operations: operations, all: true,
		check: func(ctx context.Context, c *client, o options) error {
			found, want := 0, (o.objects+max(l.share, 1)-1)/max(l.share, 1)
			err := l.pages(ctx, c, func(page []byte) error {
				var decoded struct{ Items []json.RawMessage }
				err := json.Unmarshal(page, &decoded)
				found += len(decoded.Items)
				return err
			})
			if err == nil && found != want {
				err = fmt.Errorf("the list has %d items, not %d", found, want)
			}
			return err
		},
		begin: func(context.Context, turn) (work, error) {
			return work{operate: func(ctx context.Context, c *client, _ int) error {
				if !strings.Contains(l.query, "limit=") {
					return c.skip(ctx, l.request(c, ""))
				}
				return l.pages(ctx, c, func([]byte) error { return nil })
			}}, nil
		}}
}

func (l listing) request(c *client, token string) request {
	url := c.collection(c.stored) + "?" + l.query
	if token != "" {
		url += "&continue=" + token
	}
	return request{url: url, accept: l.accept, gzip: l.gzip}
}

// continueField is in the metadata of a list, which both servers write before the items. Its value needs no escapes.
var continueField = regexp.MustCompile(`"continue":"([^"]+)"`)

// pages reads a list to its end.
func (l listing) pages(ctx context.Context, c *client, each func(page []byte) error) error {
	for token := ""; ; {
		page, err := c.get(ctx, l.request(c, token))
		if err != nil {
			return err
		}
		if err := each(page); err != nil {
			return err
		}
		found := continueField.FindSubmatch(page[:min(len(page), 2000)])
		if found == nil {
			return nil
		}
		token = string(found[1])
	}
}

func get(name, query string, etcd bool) row {
	begin := func(_ context.Context, t turn) (work, error) {
		return work{operate: func(ctx context.Context, c *client, i int) error {
			return c.skip(ctx, request{url: t.object(i) + query})
		}}, nil
	}
	return row{name: name, operations: 10000, reads: true, etcd: etcd, begin: begin}
}

// object returns the URL of the object of an operation.
func (t turn) object(i int) string { return t.collection(t.stored) + "/" + name(i%t.objects) }

func beginCreate(_ context.Context, t turn) (work, error) {
	named := func(i int) string { return fmt.Sprintf("%s-%d", t.label, i) }
	return work{
		operate: func(ctx context.Context, c *client, i int) error {
			return c.skip(ctx, request{method: http.MethodPost, url: t.collection(t.stored),
				body: t.flunder(named(i), 1)})
		},
		end: func(ctx context.Context) error {
			return concurrently(ctx, t.clients, t.most, func(ctx context.Context, c *client, i int) error {
				return c.skip(ctx, request{method: http.MethodDelete, url: t.collection(t.stored) + "/" + named(i)})
			})
		},
	}, nil
}

var turnField = regexp.MustCompile(`"turn":"[^"]*"`)

// beginUpdate reads the objects that are updated, each once.
func beginUpdate(ctx context.Context, t turn) (work, error) {
	bodies := make([][]byte, t.most)
	err := concurrently(ctx, t.clients, t.most, func(ctx context.Context, c *client, i int) error {
		body, err := c.get(ctx, request{url: t.object(i)})
		bodies[i] = turnField.ReplaceAll(body, fmt.Appendf(nil, `"turn":"%s-%d"`, t.label, i))
		return err
	})
	return work{operate: func(ctx context.Context, c *client, i int) error {
		return c.skip(ctx, request{method: http.MethodPut, url: t.object(i), body: bodies[i]})
	}}, err
}

func beginPatch(_ context.Context, t turn) (work, error) {
	return work{operate: t.patch}, nil
}

// patch changes an annotation.
func (t turn) patch(ctx context.Context, c *client, i int) error {
	return c.skip(ctx, request{method: http.MethodPatch, url: t.object(i), contentType: "application/merge-patch+json",
		body: fmt.Appendf(nil, `{"metadata":{"annotations":{"turn":"%s-%d"}}}`, t.label, i)})
}

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	path    = "/apis/library.example.com/v1/namespaces/default/books"
	objects = 12
)

// progress counts what the clients' requests came to, and wakes who waits for some.
type progress struct {
	ended, succeeded atomic.Int64
	tick             chan struct{} // one token at most
}

func (p *progress) note(success bool) {
	p.ended.Add(1)
	if success {
		p.succeeded.Add(1)
	}
	select {
	case p.tick <- struct{}{}:
	default:
	}
}

// haste is how long one of many requests is waited for: servers and etcd are halted meanwhile.
const haste = 2500 * time.Millisecond

// client makes requests of the replicas at random and notes the answers. It has one goroutine.
type client struct {
	id       int
	random   *rand.Rand
	replicas []*replica
	begin    time.Time
	progress *progress
	share    int // of lists, in percent
	patience time.Duration
	objects  int
	pace     time.Duration // between two requests, on average; 0 makes them at full speed
	meter    *meter        // may be nil

	known      map[string]version
	operations []*operation
	lists      []*listing
}

func newClient(id int, seed uint64, replicas []*replica, begin time.Time, p *progress) *client {
	return &client{
		id: id, random: rand.New(rand.NewPCG(seed, uint64(id))), replicas: replicas, begin: begin, progress: p,
		share: 12, patience: haste, objects: objects,
		known: map[string]version{},
	}
}

func (c *client) now() int64 { return int64(time.Since(c.begin)) }

func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		replica := c.replicas[c.random.IntN(len(c.replicas))]
		success, outcome, called := false, "a list that failed", time.Now()
		if dice := c.random.IntN(100); dice < c.share {
			if success = c.list(replica, 3*dice < 2*c.share); success {
				outcome = "a list"
			}
		} else {
			o := c.choose(c.random.IntN(100))
			c.carryOut(replica, o)
			success, outcome = o.code != 0 && o.code < 500, fmt.Sprintf("%s: %d", o.kind, o.code)
		}
		c.progress.note(success)
		c.meter.note(outcome, success, time.Since(called))
		pause := time.Duration(2 * c.random.Float64() * float64(c.pace))
		if !success { // whoever refuses a connection does so at once
			pause = max(pause, 5*time.Millisecond)
		}
		if pause > 0 {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}
}

// choose makes the next operation.
func (c *client) choose(dice int) *operation {
	o := &operation{client: c.id, name: fmt.Sprintf("book-%02d", c.random.IntN(c.objects)), kind: get}
	known := c.known[o.name]
	switch { // dice has a hundred sides
	case dice < 32:
		return o
	case known.revision == 0:
		o.kind = create
	case dice < 60:
		o.kind = put
	case dice < 87:
		o.kind = patch
	default:
		o.kind = remove
	}
	o.expect = known.revision
	o.title = fmt.Sprintf("%d-%d", c.id, len(c.operations))
	if o.genre = "Fiction"; c.random.IntN(2) == 0 {
		o.genre = "NonFiction"
	}
	return o
}

func (c *client) carryOut(r *replica, o *operation) {
	method, url, contentType, body := request(o)
	o.call = c.now()
	// The request outlives the run: what was asked is waited for, to the client's deadline.
	ctx, cancel := context.WithTimeout(context.Background(), c.patience)
	defer cancel()
	code, answer, err := r.do(ctx, method, url, contentType, body)
	o.end = c.now()
	c.operations = append(c.operations, o)
	if err != nil {
		return
	}
	o.code = code
	switch {
	case code == http.StatusNotFound || o.kind == remove && o.succeeded():
		delete(c.known, o.name)
	case o.succeeded():
		var b book
		if err := json.Unmarshal(answer, &b); err != nil {
			o.code = -1 // noticed by the checks
			return
		}
		o.answer = versionOf(&b)
		c.known[o.name] = o.answer
	case o.kind == create && code == http.StatusConflict:
		c.known[o.name] = version{revision: 1} // it is there: a put will conflict, and a get will tell
	}
}

func request(o *operation) (method, url, contentType string, body []byte) {
	url = path + "/" + o.name
	if o.kind == get {
		return http.MethodGet, url, "", nil
	}
	var b book
	b.APIVersion, b.Kind = "library.example.com/v1", "Book"
	b.Metadata.Name, b.Spec.Title, b.Spec.Genre = o.name, o.title, o.genre
	switch o.kind {
	case create:
		method, url = http.MethodPost, path
	case put:
		method, b.Metadata.ResourceVersion = http.MethodPut, strconv.FormatInt(o.expect, 10)
	case patch:
		return http.MethodPatch, url, "application/merge-patch+json",
			fmt.Appendf(nil, `{"spec":{"title":%q,"genre":%q}}`, o.title, o.genre)
	case remove:
		return http.MethodDelete, url, "application/json",
			fmt.Appendf(nil, `{"apiVersion":"v1","kind":"DeleteOptions",`+
				`"preconditions":{"resourceVersion":"%d"}}`, o.expect)
	}
	body, err := json.Marshal(b)
	if err != nil {
		panic(err) // a struct of strings
	}
	return method, url, "application/json", body
}

func versionOf(b *book) version {
	revision, err := strconv.ParseInt(b.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		revision = -1 // noticed by the checks
	}
	return version{revision, b.Spec.Title, b.Spec.Genre}
}

// bookList is the answer to a list.
type bookList struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Items []book `json:"items"`
}

func (c *client) list(r *replica, consistent bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), c.patience)
	defer cancel()
	list, ok := fetch(ctx, r, consistent, c.now)
	if ok {
		c.lists = append(c.lists, list)
		for name, v := range list.items { // what it writes next is more often of what there is
			if v.revision > c.known[name].revision {
				c.known[name] = v
			}
		}
	}
	return ok
}

// fetch lists.
func fetch(ctx context.Context, r *replica, consistent bool, now func() int64) (*listing, bool) {
	url := path
	if !consistent {
		url += "?resourceVersion=0"
	}
	list := &listing{consistent: consistent, call: now(), items: map[string]version{}}
	code, answer, err := r.do(ctx, http.MethodGet, url, "", nil)
	if err != nil || code != http.StatusOK {
		return nil, false
	}
	var l bookList
	if err := json.Unmarshal(answer, &l); err != nil {
		return nil, false
	}
	list.revision, err = strconv.ParseInt(l.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		list.revision = -1 // noticed by the checks
	}
	for i := range l.Items {
		list.items[l.Items[i].Metadata.Name] = versionOf(&l.Items[i])
	}
	return list, true
}

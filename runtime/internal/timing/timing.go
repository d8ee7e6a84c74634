// Package timing records where the time of a request goes, for the log of slow requests and for traces. The context of
// a request carries its Record; a context without one records nothing.
//
// It imports nothing of ours.
package timing

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Stage is a part of a request.
type Stage uint8

// The stages of a request.
const (
	Authentication Stage = iota
	Authorization
	// Queue is the wait in a fair queue.
	Queue
	Admission
	// CacheWait is the wait of a read for a cache that has all earlier writes.
	CacheWait
	// Storage is a request to storage, of which an HTTP request may have several.
	Storage
	// Stages is the number of stages.
	Stages
)

var names = [Stages]string{"authentication", "authorization", "queue", "admission", "cache-wait", "storage"}

// String returns the name of the stage.
func (s Stage) String() string { return names[s] }

// Part is a stage that has ended.
type Part struct {
	Stage Stage
	// Detail says more: the name of a plug-in or of a priority level, or the operation of storage.
	Detail       string
	Began, Ended time.Time
}

// Record has the time that a request spent in each stage. It is safe for concurrent use. Stages that run at the same
// time count each for itself.
type Record struct {
	context.Context // that of the request, without the record
	began           time.Time
	spent           [Stages]atomic.Int64
	share           Share
	// observer is told about each part, if it isn't nil.
	observer atomic.Pointer[func(Part)]
	// inject writes the headers that name the request's span, if it isn't nil. makeInject, if it isn't nil, makes it
	// when it is needed.
	inject     atomic.Pointer[func(http.Header)]
	makeInject func() func(http.Header)
	made       sync.Once
}

// Share is a request's share of the server, as priority and fairness estimate it.
type Share struct {
	// Level and Schema are the names of the priority level and of the flow schema.
	Level, Schema string
	// Seats are those of the request while it executes, and Final those that it occupies for Latency after that.
	Seats, Final int
	Latency      time.Duration
}

type key struct{}

// New returns a context that carries a new Record. The Record is the context itself, which saves an allocation.
func New(ctx context.Context) *Record { return &Record{Context: ctx, began: time.Now()} }

// Value implements context.Context.
func (r *Record) Value(of any) any {
	if of == (key{}) {
		return r
	}
	return r.Context.Value(of)
}

// From returns the Record that ctx carries, or nil.
func From(ctx context.Context) *Record {
	r, _ := ctx.Value(key{}).(*Record)
	return r
}

// Began is when the request began.
func (r *Record) Began() time.Time { return r.began }

// Spent returns the time that the request has spent in a stage.
func (r *Record) Spent(stage Stage) time.Duration { return time.Duration(r.spent[stage].Load()) }

// SetShare notes the share of the request of ctx. Only the goroutine that serves the request may call it.
func SetShare(ctx context.Context, share Share) {
	if r := From(ctx); r != nil {
		r.share = share
	}
}

// Share returns the share of the request, which is zero if nothing has estimated the request. Only the goroutine that
// serves the request may call it.
func (r *Record) Share() Share { return r.share }

// Observe makes the Record call observer with each part that ends from now on, perhaps concurrently.
func (r *Record) Observe(observer func(Part)) { r.observer.Store(&observer) }

// Trace makes Propagate call inject with the headers of each request to another server that is made for this one.
func (r *Record) Trace(inject func(http.Header)) { r.inject.Store(&inject) }

// TraceLazily is Trace with the function that makeInject returns. makeInject is called once, for the first request to
// another server, which most requests never make. Only the goroutine that serves the request may call TraceLazily.
func (r *Record) TraceLazily(makeInject func() func(http.Header)) { r.makeInject = makeInject }

// Propagate adds the headers that name the span of the request of ctx, in which another server is asked, to the headers
// of that question. It adds nothing if the request isn't traced.
func Propagate(ctx context.Context, header http.Header) {
	r := From(ctx)
	if r == nil {
		return
	}
	if r.makeInject != nil {
		r.made.Do(func() { r.Trace(r.makeInject()) })
	}
	if inject := r.inject.Load(); inject != nil {
		(*inject)(header)
	}
}

// End adds the time since began to a stage of the request of ctx.
func End(ctx context.Context, stage Stage, detail string, began time.Time) {
	r := From(ctx)
	if r == nil {
		return
	}
	r.add(Part{stage, detail, began, time.Now()})
}

// Add adds a part that has ended to the request of ctx.
func Add(ctx context.Context, part Part) {
	if r := From(ctx); r != nil {
		r.add(part)
	}
}

func (r *Record) add(part Part) {
	r.spent[part.Stage].Add(int64(part.Ended.Sub(part.Began)))
	if observer := r.observer.Load(); observer != nil {
		(*observer)(part)
	}
}

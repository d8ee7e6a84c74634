// Package backend has the sinks of audit: a log file and a webhook, each with kube-apiserver's modes. A Backend encodes
// an event, truncates it if it is too large, and delivers it before the request goes on, or in batches beside the
// requests. The memory that it takes is bounded in every mode, and it counts the events that it loses.
//
// It may know package trail.
package backend

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"apigen.dev/runtime/internal/audit/trail"
	"golang.org/x/time/rate"
)

// Mode says when a Backend delivers events.
type Mode string

// The modes. Blocking delivers the events of a request before its answer ends, and passes over failures. BlockingStrict
// delivers each event before the request goes on, and refuses
// a request whose first event it could not deliver. Batch collects events, and delivers them beside the requests.
const (
	Batch          Mode = "batch"
	Blocking       Mode = "blocking"
	BlockingStrict Mode = "blocking-strict"
)

// Modes are all modes, in the order in which kube-apiserver lists them.
var Modes = []Mode{Batch, Blocking, BlockingStrict}

// Config configures a Backend.
type Config struct {
	// Name is that of the backend in the metric of lost events.
	Name string
	Mode Mode
	// BufferSize is how many events wait in the mode Batch. A batch has at most MaxBatchSize events, and waits at most
	// MaxBatchWait for more of them; a batch of one doesn't wait.
	BufferSize, MaxBatchSize int
	MaxBatchWait             time.Duration
	// Senders is how many batches the Backend delivers at once.
	Senders int
	// QPS is how many batches the Backend delivers in a second, on average, and Burst how many at once after a pause. A
	// QPS of 0 means no bound.
	QPS   float64
	Burst int
	// MaxEventBytes is the size beyond which an event loses the objects of the request and of the answer. If it is
	// larger without them, too, it is lost. A batch of more than MaxBatchBytes is divided. 0 means no bound.
	MaxEventBytes, MaxBatchBytes int64
	// Backoff is how long the Backend waits before it delivers a batch for the second time; it waits longer each time.
	// 0 delivers a batch once.
	Backoff time.Duration
}

// MaxHeldBytes bounds the sum of the sizes of the events that a Backend holds in the mode Batch, beside their number.
const MaxHeldBytes = 128 << 20

// Format is how events are written.
type Format interface {
	// Append appends the encoded event.
	Append(b []byte, event *trail.Event) ([]byte, error)
}

// Target is where a Backend delivers events.
type Target interface {
	Format
	// Deliver delivers encoded events. Several goroutines call it at once.
	Deliver(ctx context.Context, events [][]byte) error
}

// Backend is a trail.Sink. Run delivers batches, and flushes them at the end.
type Backend struct {
	config   Config
	target   Target
	failures *Failures
	queue    *queue
	buffers  sync.Pool
	// stopping is closed when the Backend waits no longer before it delivers a batch once more.
	stopping chan struct{}
	// lose counts events that were lost after Process returned.
	lose func(events int, err error)
}

// New returns a Backend that delivers events to a target, and tells failures which events it lost.
func New(config Config, target Target, failures *Failures) *Backend {
	b := &Backend{config: config, target: target, failures: failures, stopping: make(chan struct{})}
	b.buffers.New = func() any { return new([]byte) }
	b.lose = func(events int, err error) { failures.add(config.Name, events, err) }
	b.queue = newQueue(config.BufferSize, MaxHeldBytes)
	return b
}

// Process implements trail.Sink. Only a Backend in the mode BlockingStrict returns false.
func (b *Backend) Process(event *trail.Event) bool {
	buffer := b.buffers.Get().(*[]byte)
	defer b.buffers.Put(buffer)
	line, err := b.encode((*buffer)[:0], event)
	if err != nil {
		b.failures.add(b.config.Name, 1, err)
		return b.config.Mode != BlockingStrict
	}
	if line == nil {
		return true // it was too large, as in kube-apiserver no reason to refuse the request
	}
	if cap(line) <= maxKeptBuffer {
		*buffer = line
	}
	if b.config.Mode == Batch {
		if err := b.queue.put(line); err != nil {
			b.failures.add("buffered", 1, err)
		}
		return true
	}
	if log, ok := b.target.(*Gathered); ok && b.config.Mode == Blocking && event.Stage == trail.RequestReceived {
		log.deliverSoon(line, b.lose)
		return true
	}
	if err := b.deliver(context.Background(), [][]byte{line}); err != nil {
		b.failures.add(b.config.Name, 1, err)
		return b.config.Mode != BlockingStrict
	}
	return true
}

// maxKeptBuffer is the size of the largest buffer that is used again.
const maxKeptBuffer = 64 << 10

// truncatedAnnotation marks an event without the objects that it had.
const truncatedAnnotation = "audit.k8s.io/truncated"

// encode encodes an event, without its objects if it is too large with them. It returns nil if it is too large anyhow.
func (b *Backend) encode(buffer []byte, event *trail.Event) ([]byte, error) {
	limit := b.config.MaxEventBytes
	line, err := b.target.Append(buffer, event)
	if err != nil || limit == 0 || int64(len(line)) <= limit {
		return line, err
	}
	if event.Level.AtLeast(trail.Request) {
		short := event.Clone()
		short.RequestObject, short.ResponseObject = nil, nil
		short.Annotations = append(short.Annotations, trail.Annotation{Key: truncatedAnnotation, Value: "true"})
		line, err = b.target.Append(line[:0], short)
		if err != nil || int64(len(line)) <= limit {
			return line, err
		}
	}
	b.failures.add("truncate", 1, errors.New("event is too large even after truncating"))
	return nil, nil
}

// flushTime bounds how long a Backend takes to deliver what it holds when the server ends.
const flushTime = 30 * time.Second

// Run delivers batches until ctx ends. Then it delivers what it holds, within flushTime, and returns. In the other
// modes it only waits.
func (b *Backend) Run(ctx context.Context) error {
	if b.config.Mode != Batch {
		<-ctx.Done()
		close(b.stopping)
		return nil
	}
	delivering, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		close(b.stopping)
		time.AfterFunc(flushTime, cancel)
	})()
	limiter := rate.NewLimiter(rate.Inf, 0)
	if b.config.QPS > 0 {
		limiter = rate.NewLimiter(rate.Limit(b.config.QPS), b.config.Burst)
	}
	senders := make(chan struct{}, max(1, b.config.Senders))
	var sending sync.WaitGroup
	defer sending.Wait()
	for {
		batch := b.queue.take(ctx, b.config.MaxBatchSize, b.config.MaxBatchBytes, b.config.MaxBatchWait)
		if len(batch) == 0 {
			if ctx.Err() == nil {
				continue
			}
			if b.queue.close() {
				return nil
			}
			continue
		}
		_ = limiter.Wait(ctx) // the end of ctx ends the throttling
		senders <- struct{}{}
		sending.Go(func() {
			defer func() { <-senders }()
			if err := b.deliver(delivering, batch); err != nil {
				b.failures.add(b.config.Name, len(batch), err)
			}
			b.queue.release(batch)
		})
	}
}

// attempts is how often the Backend delivers a batch that fails.
const attempts = 5

// deliver delivers events, once more after a pause if that fails.
func (b *Backend) deliver(ctx context.Context, events [][]byte) error {
	pause := b.config.Backoff
	for n := 1; ; n++ {
		err := b.target.Deliver(ctx, events)
		if err == nil || b.config.Backoff == 0 || n == attempts {
			return err
		}
		timer := time.NewTimer(pause + time.Duration(0.2*rand.Float64()*float64(pause)))
		select {
		case <-timer.C:
			pause += pause / 2
		case <-b.stopping:
			timer.Stop()
			if n > 1 {
				return err
			}
			n = attempts - 1 // the last time
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w; %w", err, ctx.Err())
		}
	}
}

package endpoint

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
)

// WatchMeter measures watches. It is safe for concurrent use.
type WatchMeter interface {
	// Event counts an event of so many bytes.
	Event(bytes int)
	// Listed measures how long it took to write the state that a watch with sendInitialEvents begins with.
	Listed(took time.Duration)
}

type unmeasured struct{}

func (unmeasured) Event(int)            {}
func (unmeasured) Listed(time.Duration) {}

// watch streams events until the client closes the connection, the time of the watch is over, or the stream fails.
func (req *resourceRequest) watch() error {
	received := time.Now()
	accepted, err := req.negotiate(negotiation.StreamOutput, negotiation.WatchTransform)
	if err != nil {
		return err
	}
	options, err := req.listOptions()
	if err != nil {
		return err
	}
	life := req.watchTime(options.TimeoutSeconds)
	ctx, cancel := context.WithTimeout(req.r.Context(), life)
	defer cancel()
	beginning := ctx
	if life < 0 {
		beginning = req.r.Context()
	}
	events, err := req.handle.Watch(beginning, req.namespace, api.WatchOptions{
		Selection: selection(options), ResourceVersion: options.ResourceVersion,
		AllowBookmarks: options.AllowWatchBookmarks, SendInitialEvents: options.SendInitialEvents,
	}, accepted.single())
	if err != nil {
		return err
	}
	defer events.Close()
	if accepted.notAcceptable != nil {
		return accepted.notAcceptable
	}
	s := &eventStream{
		resourceRequest: req, format: accepted.media.Format, shape: accepted.form.Shape,
		encoder: encoder.For(accepted.form.Encoding), turn: req.api.turns.Of(req.api.user(ctx)),
		meter: req.api.watchMeter(request.InfoFrom(ctx)),
	}
	// A watch without a revision begins with the state, too: options say so, and the client didn't.
	if begins := options.SendInitialEvents; begins != nil && *begins && req.r.URL.Query().Has("sendInitialEvents") {
		s.received = received
	}
	defer s.turn.End()
	if wantsSocket(req.r) {
		s.runSocket(ctx, events)
	} else {
		s.run(ctx, events)
	}
	return nil
}

// watchTime returns the time of a watch: the time that the client asks for, or a random time between the minimum and
// its double, so that watches that began together don't end together. As in kube-apiserver, a watch with a negative
// time ends as soon as it has begun.
func (req *resourceRequest) watchTime(seconds *int64) time.Duration {
	if seconds == nil || *seconds == 0 {
		return time.Duration(float64(req.api.minTimeout) * (1 + rand.Float64()))
	}
	return time.Duration(min(max(*seconds, -1), math.MaxInt64/int64(time.Second))) * time.Second
}

type eventStream struct {
	*resourceRequest
	format  negotiation.Format
	shape   verb.Shape
	encoder encoder.Encoder
	begun   bool // an event was written
	// toldBegun: those who wait for the beginning know of it.
	toldBegun bool
	pace      pace
	turn      respond.Turn // until toldBegun
	meter     WatchMeter
	received  time.Time // of a watch with sendInitialEvents
	socket    *socket   // nil if the events are the body of an answer
}

// Write writes a piece. The pieces of the state with which the watch begins take turns with other large answers.
func (s *eventStream) Write(b []byte) (int, error) {
	if s.toldBegun {
		s.turn.Pass()
	} else if err := s.turn.Take(s.r.Context()); err != nil {
		return 0, err
	}
	if s.socket != nil {
		return s.socket.Write(b)
	}
	return s.w.Write(b)
}

func (s *eventStream) run(ctx context.Context, events verb.Watch) {
	s.w.Header()["Content-Type"] = s.format.StreamContentType()
	s.w.WriteHeader(http.StatusOK)
	flusher := http.NewResponseController(s.w)
	// If the writer can't flush, the server's buffer decides when the client sees events.
	s.follow(ctx, events, func() bool {
		err := flusher.Flush()
		return err == nil || errors.Is(err, http.ErrNotSupported)
	})
}

// follow writes the events of one moment in one piece, and flushes once. It holds no buffer while it waits.
func (s *eventStream) follow(ctx context.Context, events verb.Watch, flush func() bool) {
	for told := false; flush(); told = true {
		if told || !hasBacklog(events) {
			s.tellBegun()
		}
		began, last, ok := s.writePiece(ctx, events)
		if !ok {
			flush()
			return
		}
		if pause := s.pace.after(began, last); pause > 0 {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}
}

// tellBegun tells once that the state with which the watch begins was written.
func (s *eventStream) tellBegun() {
	if !s.toldBegun {
		s.toldBegun = true
		s.turn.End()
		request.Begun(s.r.Context())
		if !s.received.IsZero() {
			s.meter.Listed(time.Since(s.received))
		}
	}
}

// writePiece writes the next events, and returns false if the stream ends with them. The state with which a watch
// begins is one piece. It returns when it began to write, and how many events the last batch had.
func (s *eventStream) writePiece(ctx context.Context, events verb.Watch) (began time.Time, last int, ok bool) {
	var f *encoder.Frame
	for {
		batch, err := events.Next(ctx)
		if ctx.Err() != nil || errors.Is(err, context.Canceled) {
			if f != nil {
				f.Flush() // the bytes that were sent before end within an event
			}
			return began, 0, false // the client, the time of the watch or the server ended it, which isn't an error
		}
		now := time.Now()
		if f == nil {
			began = now
			f = s.api.streamFrames.Get(s)
			defer s.api.streamFrames.Put(f)
		}
		for i := range batch {
			before := f.Size()
			s.encoder.Event(f, s.heads, s.shape, &batch[i], !s.begun, now)
			s.meter.Event(f.Size() - before)
			s.endEvent(f)
			s.begun = true
		}
		if err != nil {
			s.api.logWithheld(ctx, err)
			s.encoder.Failure(f, respond.StatusOf(err))
			s.endEvent(f)
		}
		if err == nil && f.Err() == nil && hasBacklog(events) {
			continue
		}
		f.Flush()
		return began, len(batch), err == nil && f.Err() == nil
	}
}

func hasBacklog(events verb.Watch) bool {
	backlog, ok := events.(verb.Backlog)
	return ok && backlog.More()
}

// endEvent sends an event over a WebSocket, where each event is a message of its own.
func (s *eventStream) endEvent(f *encoder.Frame) {
	if s.socket == nil {
		return
	}
	if f.Flush(); f.Err() == nil {
		f.Fail(s.socket.send())
	}
}

const (
	// burstPause is how long a stream waits for more events before it writes the next piece, during a burst of events.
	// It delays an event of a burst at most so long, and never an event that comes alone.
	burstPause = 6 * time.Millisecond
	// maxDelayed is the largest piece, in events, after which a stream waits. With larger pieces it would fall behind.
	maxDelayed = 32
	// A stream waits after a number of pieces that follow each other within two pauses: at first minPieces, and twice
	// as many each time that it waited in vain, up to maxPieces. So a client that writes, waits for the event and
	// writes again is seldom delayed.
	minPieces, maxPieces = 2, 64
)

// pace decides when a stream waits, so that it writes the events of a burst in fewer pieces. A piece costs a record of
// TLS, a frame and a part of a system call, several times as much as an event. The zero value is ready.
type pace struct {
	last        time.Time
	consecutive int // how many pieces in a row came soon after the one before
	needed      int // how many of them make the stream wait
	paused      bool
}

// after returns how long a stream waits after it wrote a piece of so many events at now.
func (p *pace) after(now time.Time, events int) time.Duration {
	switch {
	case p.needed == 0, p.paused && events > 1:
		p.needed = minPieces
	case p.paused:
		p.needed, p.consecutive = min(2*p.needed, maxPieces), 0
	}
	if now.Sub(p.last) < 2*burstPause {
		p.consecutive++
	} else {
		p.consecutive = 0
	}
	p.last = now
	p.paused = p.consecutive > p.needed && events <= maxDelayed
	if p.paused {
		return burstPause
	}
	return 0
}

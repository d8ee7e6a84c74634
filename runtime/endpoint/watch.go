package endpoint

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"apigen.dev/runtime/api"
)

// watch streams events until the client goes, the time is over, or the stream fails.
func (c *call) watch() error {
	media, notAcceptable := negotiateStream(c.r, c.formats(watchTransform))
	if notAcceptable != nil && !c.misfits(notAcceptable) {
		return notAcceptable
	}
	form, err := c.form(media)
	if err != nil {
		return err
	}
	options, err := c.listOptions()
	if err != nil {
		return err
	}
	life := c.watchTime(options.TimeoutSeconds)
	ctx, cancel := context.WithTimeout(c.r.Context(), life)
	defer cancel()
	beginning := ctx
	if life < 0 {
		beginning = c.r.Context()
	}
	events, err := c.handle.Watch(beginning, c.namespace, api.WatchOptions{
		Selection:         selection(options),
		ResourceVersion:   options.ResourceVersion,
		AllowBookmarks:    options.AllowWatchBookmarks,
		SendInitialEvents: options.SendInitialEvents,
	}, form)
	if err != nil {
		return err
	}
	defer events.Close()
	if notAcceptable != nil {
		return notAcceptable
	}
	s := &stream{call: c, format: media.format, shape: form.Shape, encoder: encoders[form.Encoding]}
	defer s.watchdog.end()
	if wantsSocket(c.r) {
		s.runSocket(ctx, events)
	} else {
		s.run(ctx, events)
	}
	return nil
}

// watchTime is what the client wants, or random between the minimum and its double, so that the watches of a moment
// don't end in one moment. A watch that wants less than no time is over once it has begun, as with kube-apiserver.
func (c *call) watchTime(seconds *int64) time.Duration {
	if seconds == nil || *seconds == 0 {
		return time.Duration(float64(c.api.minTimeout) * (1 + rand.Float64()))
	}
	return time.Duration(min(max(*seconds, -1), math.MaxInt64/int64(time.Second))) * time.Second
}

// stream is the body of a watch.
type stream struct {
	*call
	format   format
	shape    api.Shape
	encoder  encoder
	begun    bool // an event was written
	watchdog watchdog
	pace     pace
	socket   *socket // nil where events are the body of an answer
}

// Write gives each piece its time.
func (s *stream) Write(b []byte) (int, error) {
	if s.socket != nil {
		return s.socket.Write(b)
	}
	s.watchdog.watch(s.w, s.api.writeTimeout)
	return s.w.Write(b)
}

// run writes events as they come into the body of the answer.
func (s *stream) run(ctx context.Context, events api.Watch) {
	s.w.Header()["Content-Type"] = streamTypes[s.format]
	s.w.WriteHeader(http.StatusOK)
	flusher := http.NewResponseController(s.w)
	s.follow(ctx, events, func() bool { // where it isn't possible, the server's buffer decides when clients see events
		err := flusher.Flush()
		return err == nil || errors.Is(err, http.ErrNotSupported)
	})
}

// follow writes the events of one moment in one piece, flushed once. While nothing happens it holds no buffer.
func (s *stream) follow(ctx context.Context, events api.Watch, flush func() bool) {
	for flush() {
		began, last, ok := s.piece(ctx, events)
		if !ok {
			flush()
			return
		}
		s.watchdog.rest()
		if pause := s.pace.after(began, last); pause > 0 {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}
}

// piece writes what is due next, and is false where the stream ends with it. The state that a watch begins with is one
// piece. It tells when it began to write, and how many events were due last.
func (s *stream) piece(ctx context.Context, events api.Watch) (began time.Time, last int, ok bool) {
	var f *frame
	for {
		batch, err := events.Next(ctx)
		if ctx.Err() != nil || errors.Is(err, context.Canceled) {
			if f != nil {
				f.flush() // what went out before ends within an event
			}
			return began, 0, false // the client, the time or the server: nothing that a client must be told
		}
		now := time.Now()
		if f == nil {
			began = now
			f = frameFor(s, &s.api.pools.streamFrames)
			defer f.release(&s.api.pools.streamFrames)
		}
		for i := range batch {
			s.encoder.event(f, s.resource, s.shape, &batch[i], !s.begun, now)
			s.endEvent(f)
			s.begun = true
		}
		if err != nil {
			s.api.tell(ctx, err)
			s.encoder.failure(f, statusOf(err))
			s.endEvent(f)
		}
		if backlog, is := events.(api.Backlog); err == nil && f.err == nil && is && backlog.More() {
			continue
		}
		f.flush()
		return began, len(batch), err == nil && f.err == nil
	}
}

// endEvent sends what was written where each event is a message of its own.
func (s *stream) endEvent(f *frame) {
	if s.socket == nil {
		return
	}
	if f.flush(); f.err == nil {
		f.err = s.socket.send()
	}
}

func eventHead(t api.EventType) string {
	switch t {
	case api.Added:
		return `{"type":"ADDED","object":`
	case api.Modified:
		return `{"type":"MODIFIED","object":`
	case api.Deleted:
		return `{"type":"DELETED","object":`
	}
	return `{"type":"` + string(t) + `","object":`
}

package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"apigen.dev/runtime/registry"
)

// watch streams events until the client goes, the time is over, or the stream fails.
func (c *call) watch() error {
	media, err := negotiateStream(c.r)
	if err != nil {
		return err
	}
	form, err := c.form(media)
	if err != nil {
		return err
	}
	options, err := c.listOptions()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), c.watchTime(options.TimeoutSeconds))
	defer cancel()
	events, err := c.handle.Watch(ctx, c.namespace, registry.WatchOptions{
		Selection:         selection(options),
		ResourceVersion:   options.ResourceVersion,
		AllowBookmarks:    options.AllowWatchBookmarks,
		SendInitialEvents: options.SendInitialEvents,
	}, form)
	if err != nil {
		return err
	}
	defer events.Close()
	s := &stream{call: c, rows: isRow(form.Shape), columns: c.columns}
	defer s.watchdog.end()
	s.run(ctx, events)
	return nil
}

// watchTime is what the client wants, or random between the minimum and its double, so that the watches of a moment
// don't end in one moment.
func (c *call) watchTime(seconds *int64) time.Duration {
	if seconds == nil || *seconds == 0 {
		return time.Duration(float64(c.api.minTimeout) * (1 + rand.Float64()))
	}
	return time.Duration(min(*seconds, math.MaxInt64/int64(time.Second))) * time.Second
}

// stream is the body of a watch.
type stream struct {
	*call
	rows     bool
	columns  string
	watchdog watchdog
}

// Write gives each piece its time.
func (s *stream) Write(b []byte) (int, error) {
	s.watchdog.watch(s.w, s.api.writeTimeout)
	return s.w.Write(b)
}

// run writes events as they come: those of one moment in one piece, flushed once. While nothing happens it holds no
// buffer.
func (s *stream) run(ctx context.Context, events registry.Watch) {
	s.w.Header()["Content-Type"] = contentTypes[formatJSON]
	s.w.WriteHeader(http.StatusOK)
	frames := &s.api.pools.streamFrames
	flusher := http.NewResponseController(s.w)
	flush := func() bool { // where it isn't possible, the server's buffer decides when clients see events
		err := flusher.Flush()
		return err == nil || errors.Is(err, http.ErrNotSupported)
	}
	flush()
	for {
		batch, err := events.Next(ctx)
		if ctx.Err() != nil || errors.Is(err, context.Canceled) {
			return // the client, the time or the server: nothing that a client must be told
		}
		f := frameFor(s, frames)
		now := time.Now()
		for i := range batch {
			s.event(f, &batch[i], now)
		}
		if err != nil {
			s.failure(ctx, f, err)
		}
		f.flush()
		broken := f.err != nil
		f.release(frames)
		if broken || !flush() || err != nil {
			return
		}
		s.watchdog.rest()
	}
}

// event writes {"type":"ADDED","object":{...}} and a newline. Only the first Table of a stream tells its columns.
func (s *stream) event(f *frame, event *registry.Event, now time.Time) {
	f.text(eventHead(event.Type))
	if s.rows {
		f.tableOf(&event.Object, s.columns, now)
		s.columns = "null"
	} else {
		f.rendition(&event.Object, true, now)
	}
	f.text("}\n")
}

func eventHead(t registry.EventType) string {
	switch t {
	case registry.Added:
		return `{"type":"ADDED","object":`
	case registry.Modified:
		return `{"type":"MODIFIED","object":`
	case registry.Deleted:
		return `{"type":"DELETED","object":`
	}
	return `{"type":"` + string(t) + `","object":`
}

// failure writes the ERROR event that tells why the stream ends.
func (s *stream) failure(ctx context.Context, f *frame, err error) {
	status, err := json.Marshal(statusOf(ctx, err))
	if err != nil {
		return // a Status is plain data
	}
	f.text(`{"type":"ERROR","object":`)
	f.bytes(status)
	f.text("}\n")
}

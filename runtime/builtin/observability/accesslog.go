package observability

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/internal/timing"
)

const (
	// accessLevel is the level of the access log: that of kube-apiserver's, which begins with --v=3.
	accessLevel = slog.Level(-3)
	// slow is the duration from which on a request is logged with where its time went.
	slow = 500 * time.Millisecond
	// maxLogged bounds what a client has in a line of the log.
	maxLogged = 1024
)

// requestLog logs requests.
type requestLog struct {
	*slog.Logger
	// prompt reports whether the handler keeps nothing of a record, so that the next one may have its attributes.
	prompt bool
}

func newRequestLog(log *slog.Logger) requestLog {
	_, prompt := log.Handler().(interface{ KeepsNoRecord() })
	return requestLog{log, prompt}
}

// lists has empty lists of attributes.
var lists = sync.Pool{New: func() any { return new([maxAttributes]slog.Attr) }}

// observe logs a request that was answered.
func (l requestLog) observe(o filter.Observation) {
	ctx := o.Request.Context()
	if l.Enabled(ctx, accessLevel) {
		l.access(ctx, o)
	}
	if o.Duration < slow || o.Info == nil || o.Info.LongRunning {
		return
	}
	attributes := described(nil, o)
	if record := timing.From(ctx); record != nil {
		for stage := range timing.Stages {
			if spent := record.Spent(stage); spent > 0 {
				attributes = append(attributes, slog.Duration(stage.String(), spent))
			}
		}
	}
	l.write(ctx, slog.LevelInfo, "a request was slow", attributes)
}

// access writes the line of the access log.
func (l requestLog) access(ctx context.Context, o filter.Observation) {
	if !l.prompt {
		l.write(ctx, accessLevel, "HTTP", described(nil, o))
		return
	}
	list := lists.Get().(*[maxAttributes]slog.Attr)
	l.write(ctx, accessLevel, "HTTP", described(list[:0], o))
	clear(list[:])
	lists.Put(list)
}

// write writes a line. A Logger would copy the attributes, and look for the line of the program, which is always this
// one. A group without a key is written as its attributes.
func (l requestLog) write(ctx context.Context, level slog.Level, message string, attributes []slog.Attr) {
	record := slog.NewRecord(time.Now(), level, message, 0)
	record.AddAttrs(slog.Attr{Value: slog.GroupValue(attributes...)})
	_ = l.Handler().Handle(ctx, record) // as a Logger does
}

// described appends what a line of the log says about a request, under kube-apiserver's names.
func described(attributes []slog.Attr, o filter.Observation) []slog.Attr {
	r, verb := o.Request, o.Request.Method
	if o.Info != nil {
		verb = o.Info.Verb
	}
	attributes = append(slices.Grow(attributes, maxAttributes),
		slog.String("verb", verb), slog.String("URI", bounded(r.RequestURI)), slog.Duration("latency", o.Duration),
		slog.String("userAgent", bounded(r.UserAgent())), slog.String("audit-ID", bounded(o.AuditID)),
		slog.String("srcIP", r.RemoteAddr))
	if record := timing.From(r.Context()); record != nil {
		attributes = appendShare(attributes, record.Share())
	}
	return append(attributes, slog.Int("resp", o.Code), slog.Int64("bytes", o.Bytes))
}

// maxAttributes is how many attributes a request has at most, unless it was slow.
const maxAttributes = 13

// appendShare appends what priority and fairness decided about a request; nothing if they didn't see the request.
func appendShare(attributes []slog.Attr, share timing.Share) []slog.Attr {
	if share.Level == "" {
		return attributes
	}
	return append(attributes,
		slog.String("apf_pl", share.Level), slog.String("apf_fs", share.Schema), slog.Int("apf_iseats", share.Seats),
		slog.Int("apf_fseats", share.Final), slog.Duration("apf_additionalLatency", share.Latency))
}

func bounded(text string) string {
	if len(text) > maxLogged {
		return text[:maxLogged] + "..."
	}
	return text
}

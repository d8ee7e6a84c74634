package tracing

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/timing"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tracer is a filter.Tracer. It records nothing until its hook runs.
type tracer struct {
	made atomic.Pointer[trace.Tracer]
	// provider is made by begin, before run.
	provider *sdktrace.TracerProvider
}

// headers reads and writes the W3C headers traceparent and tracestate.
var headers = propagation.TraceContext{}

// Start implements filter.Tracer.
func (t *tracer) Start(
	r *http.Request, began time.Time, auditID string, trusted bool,
) (*http.Request, filter.Span) {
	made := t.made.Load()
	if made == nil {
		return r, nil
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(began)}
	ctx := r.Context()
	if r.Header.Get("Traceparent") != "" {
		remote := headers.Extract(ctx, propagation.HeaderCarrier(r.Header))
		if trusted {
			ctx = remote
		} else {
			options = append(options, trace.WithNewRoot(), trace.WithLinks(trace.LinkFromContext(remote)))
		}
	}
	ctx, root := (*made).Start(ctx, spanName(r), options...)
	if record := timing.From(ctx); record != nil {
		record.Trace(func(h http.Header) { headers.Inject(ctx, propagation.HeaderCarrier(h)) })
	}
	if !root.IsRecording() {
		return r, nil
	}
	root.SetAttributes(
		attribute.String("http.request.method", r.Method), attribute.String("http.target", bounded(r.URL.RequestURI())),
		attribute.String("user_agent.original", bounded(r.UserAgent())),
		attribute.String("audit-id", bounded(auditID)))
	return r.WithContext(ctx), &span{ctx, *made, root}
}

// maxText bounds what a client has in a span.
const maxText = 1024

func bounded(text string) string { return text[:min(len(text), maxText)] }

// spanName is kube-apiserver's name of a span: the path, without names.
func spanName(r *http.Request) string {
	info := request.InfoFrom(r.Context())
	if info == nil || !info.IsResource {
		return r.Method
	}
	name := "/" + request.CoreRoot
	if info.Group != "" {
		name = "/" + request.GroupsRoot + "/" + info.Group
	}
	name += "/" + info.Version
	if info.Namespace != "" {
		name += "/namespaces/{:namespace}"
	}
	name += "/" + info.Resource
	if info.Name != "" {
		name += "/{:name}"
	}
	if info.Subresource != "" {
		name += "/" + info.Subresource
	}
	return r.Method + " " + name
}

// span is a filter.Span.
type span struct {
	ctx    context.Context // carries root
	tracer trace.Tracer
	root   trace.Span
}

var names = map[timing.Stage]string{
	timing.Authentication: "Authentication", timing.Authorization: "Authorization", timing.Queue: "Queue",
	timing.Admission: "Admission", timing.CacheWait: "Cache wait", timing.Storage: "etcd",
}

// Part implements filter.Span.
func (s *span) Part(p timing.Part) {
	name := names[p.Stage]
	if p.Detail != "" {
		name += " " + p.Detail
	}
	_, part := s.tracer.Start(s.ctx, name, trace.WithTimestamp(p.Began))
	part.End(trace.WithTimestamp(p.Ended))
}

// End implements filter.Span.
func (s *span) End(code int) {
	s.root.SetAttributes(attribute.Int("http.response.status_code", code))
	if code >= http.StatusInternalServerError {
		s.root.SetStatus(codes.Error, http.StatusText(code))
	}
	s.root.End()
}

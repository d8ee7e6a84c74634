package tracing

import (
	"context"
	crand "crypto/rand"
	"math/rand/v2"
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
	made atomic.Pointer[sampled]
	// provider is made by begin, before run.
	provider *sdktrace.TracerProvider
}

// sampled makes spans of a part of the requests without a parent. It is asked before a span is begun, since most
// requests have none. Those with a parent are recorded if the parent is.
type sampled struct {
	trace.Tracer
	perMillion int32
}

// draws reports whether the next request without a parent is recorded.
func (s *sampled) draws() bool { return rand.Int32N(million) < s.perMillion }

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
	ctx := r.Context()
	record := timing.From(ctx)
	named := parentOf(r)
	if hasParent := named.IsValid() && trusted; !hasParent && !made.draws() {
		record.TraceLazily(unrecorded)
		return r, nil
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(began)}
	switch {
	case !named.IsValid():
	case trusted:
		ctx = trace.ContextWithRemoteSpanContext(ctx, named)
	default:
		options = append(options, trace.WithLinks(trace.Link{SpanContext: named}))
	}
	ctx, root := made.Start(ctx, spanName(r), options...)
	record.Trace(func(h http.Header) { headers.Inject(ctx, propagation.HeaderCarrier(h)) })
	if !root.IsRecording() {
		return r, nil
	}
	root.SetAttributes(
		attribute.String("http.request.method", r.Method), attribute.String("http.target", bounded(r.URL.RequestURI())),
		attribute.String("user_agent.original", bounded(r.UserAgent())),
		attribute.String("audit-id", bounded(auditID)))
	return r.WithContext(ctx), &span{ctx, made, root}
}

// parentOf returns the span that the headers of a request name, which is invalid if they name none.
func parentOf(r *http.Request) trace.SpanContext {
	if len(r.Header["Traceparent"]) == 0 {
		return trace.SpanContext{}
	}
	return trace.SpanContextFromContext(headers.Extract(context.Background(), propagation.HeaderCarrier(r.Header)))
}

// unrecorded names the span of a request that isn't recorded. Servers that are asked for the request learn its name,
// and that it isn't recorded.
func unrecorded() func(http.Header) {
	var ids trace.SpanContextConfig
	_, _ = crand.Read(ids.TraceID[:]) // never fails
	_, _ = crand.Read(ids.SpanID[:])
	ctx := trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(ids))
	return func(h http.Header) { headers.Inject(ctx, propagation.HeaderCarrier(h)) }
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

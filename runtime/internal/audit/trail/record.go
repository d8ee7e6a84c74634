package trail

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Record is what an Auditor knows of one request. Its methods do nothing on nil, which is the Record of a request of a
// server without an Auditor. Several goroutines may use a Record.
type Record struct {
	context.Context // that of the request, without the record
	auditor         *Auditor

	mu       sync.Mutex // guards the fields below, also while the sink reads event
	begun    bool       // the policy has decided
	over     bool       // no event follows
	decision Decision
	event    Event
	// object, status and few are those of event; few has as many annotations as most requests.
	object ObjectReference
	status metav1.Status
	few    [2]Annotation
	// refusal is the answer to a request that the server refuses before the policy has decided.
	refusal *metav1.Status
}

type recordKey struct{}

// Value implements context.Context.
func (r *Record) Value(key any) any {
	if key == (recordKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// RecordFrom returns the Record that ctx carries, or nil.
func RecordFrom(ctx context.Context) *Record {
	record, _ := ctx.Value(recordKey{}).(*Record)
	return record
}

// Annotate adds an annotation to the events of the request that ctx belongs to. The first value of a key stays. It does
// nothing where the request isn't audited.
func Annotate(ctx context.Context, key, value string) { RecordFrom(ctx).annotate(Metadata, key, value) }

// AnnotateAt does so where the policy records the request at a level or above, which is for what could hold a secret.
func AnnotateAt(ctx context.Context, level Level, key, value string) {
	RecordFrom(ctx).annotate(level, key, value)
}

func (r *Record) annotate(level Level, key, value string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun && !r.decision.Level.AtLeast(level) {
		return
	}
	if r.event.Annotations == nil {
		r.event.Annotations = r.few[:0]
	}
	if r.event.Annotations.index(key) < 0 {
		r.event.Annotations = append(r.event.Annotations, Annotation{key, value})
	}
}

// Begin asks the policy what to record of a request, whose user authenticated, and records that the server received it.
// It returns false if the event is lost and the request must not run.
func (r *Record) Begin(req *http.Request) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.start(req); r.process(RequestReceived) {
		return true
	}
	r.end()
	r.auditor.Counts.Rejected.Add(1)
	return false
}

// start asks the policy, and fills in what the request says.
func (r *Record) start(req *http.Request) {
	attributes := auth.Attributes{User: auth.UserFrom(req.Context()), Info: request.InfoFrom(req.Context())}
	r.begun, r.decision = true, r.auditor.decide(attributes)
	if !r.decision.Level.AtLeast(Metadata) {
		r.event.Annotations = nil
		return
	}
	e, info := &r.event, attributes.Info
	e.Level, e.Verb = r.decision.Level, info.Verb
	e.RequestURI, e.UserAgent = shortened(req.URL.RequestURI(), maxURI), shortened(req.UserAgent(), maxUserAgent)
	for _, ip := range utilnet.SourceIPs(req) {
		e.SourceIPs = append(e.SourceIPs, ip.String())
	}
	if attributes.User != nil {
		e.User = userOf(attributes.User)
	}
	if info.IsResource {
		r.object = ObjectReference{
			Resource: shortened(info.Resource, maxName), Namespace: shortened(info.Namespace, maxName),
			Name: shortened(info.Name, maxName), APIGroup: shortened(info.Group, maxName),
			APIVersion: shortened(info.Version, maxName), Subresource: shortened(info.Subresource, maxName),
		}
		e.ObjectRef = &r.object
	}
	e.encodeOrigin()
}

// The bounds in bytes of what a request says, and what stands in for the rest of a longer text. That of the user agent
// is kube-apiserver's. The others keep a request without credentials from writing more than it sends: a URI is in two
// events, and a part of it in their references, too.
const (
	maxUserAgent = 1024
	maxURI       = 16 * 1024
	maxMessage   = 16 * 1024
	maxName      = 16 * 1024
	truncated    = "...TRUNCATED"
)

// shortDetails bounds what the path of a request says in details, which it doesn't change.
func shortDetails(details *metav1.StatusDetails) *metav1.StatusDetails {
	if details == nil || max(len(details.Name), len(details.Group), len(details.Kind)) <= maxName {
		return details
	}
	short := *details
	short.Name, short.Group = shortened(short.Name, maxName), shortened(short.Group, maxName)
	short.Kind = shortened(short.Kind, maxName)
	return &short
}

func shortened(text string, bound int) string {
	if len(text) > bound {
		text = text[:bound] + truncated
	}
	return text
}

// userOf shares the slices of a user, which is immutable.
func userOf(u *auth.User) User {
	return User{Username: u.Name, UID: u.UID, Groups: u.Groups, Extra: u.Extra}
}

// SetImpersonated records the user that the request acts as, and the constraint under which it does, "" for none.
func (r *Record) SetImpersonated(user *auth.User, constraint string) {
	r.visit(Metadata, func(e *Event) {
		as := userOf(user)
		e.ImpersonatedUser = &as
		if constraint != "" {
			e.AuthenticationMetadata = &AuthenticationMetadata{ImpersonationConstraint: constraint}
		}
		e.encodeOrigin()
	})
}

// Wants reports whether the request is recorded at a level or above it.
func (r *Record) Wants(level Level) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun && !r.over && r.decision.Level.AtLeast(level)
}

// SetObject fills in what the path doesn't say about the object of a request and the object in the body does.
func (r *Record) SetObject(object metav1.Object) {
	r.visit(Metadata, func(e *Event) {
		ref := e.ObjectRef
		if ref == nil {
			return
		}
		fill(&ref.Namespace, object.GetNamespace())
		fill(&ref.Name, object.GetName())
		fill(&ref.UID, string(object.GetUID()))
		fill(&ref.ResourceVersion, object.GetResourceVersion())
	})
}

func fill(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

// SetRequest records the body of a request, in JSON, at the levels that have it. The first one stays.
func (r *Record) SetRequest(data []byte) {
	r.visit(Request, func(e *Event) {
		if e.RequestObject == nil {
			e.RequestObject = r.compact(data)
		}
	})
}

// SetResponse records the body of an answer, in JSON, at the level that has it.
func (r *Record) SetResponse(data []byte) {
	r.visit(RequestResponse, func(e *Event) { e.ResponseObject = r.compact(data) })
}

// SetStatus records an answer that is a Status. If its texts repeat an object, unquoted is the text without that, which
// stands for them at levels that record no objects; else unquoted is empty. At such levels, no text about a bad Secret
// is recorded.
func (r *Record) SetStatus(status *metav1.Status, unquoted string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if unquoted == "" && r.isSecret() && (status.Code == http.StatusBadRequest ||
		status.Code == http.StatusUnprocessableEntity) {
		unquoted = "the server rejected the body of a request about a Secret"
	}
	if unquoted != "" && !r.decision.Level.AtLeast(Request) {
		short := *status
		short.Message, short.Details = unquoted, nil
		status = &short
	}
	switch {
	case !r.begun:
		r.refusal = status
	case !r.over && r.decision.Level.AtLeast(Metadata):
		r.setStatus(status)
	}
}

// isSecret reports whether a request writes Secrets. Any text about what is wrong with one may repeat a part of it:
// that of a decoder, of a patch, or of a validation.
func (r *Record) isSecret() bool {
	ref := r.event.ObjectRef
	switch r.event.Verb {
	case "get", "list", "watch":
		return false
	}
	return ref != nil && ref.APIGroup == "" && ref.Resource == "secrets"
}

func (r *Record) setStatus(status *metav1.Status) {
	r.status = metav1.Status{
		Status: status.Status, Message: shortened(status.Message, maxMessage), Reason: status.Reason,
		Details: shortDetails(status.Details), Code: status.Code,
	}
	r.event.ResponseStatus = &r.status
	if r.decision.Level.AtLeast(RequestResponse) {
		r.event.ResponseObject, _ = json.Marshal(status) // a Status can always be encoded
	}
}

// visit changes the event of a request that is recorded at a level or above it.
func (r *Record) visit(level Level, change func(*Event)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun && !r.over && r.decision.Level.AtLeast(level) {
		change(&r.event)
	}
}

// Answer records the code of the answer to a request when the server begins to write it. If Begin was not called, the
// server refuses the request before it knows the user, and the record ends with this event.
func (r *Record) Answer(req *http.Request, code int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	refused := !r.begun
	if refused {
		r.start(req)
	}
	if r.over || !r.decision.Level.AtLeast(Metadata) {
		return
	}
	if r.refusal != nil {
		r.setStatus(r.refusal)
	}
	r.status.Code = int32(code)
	r.event.ResponseStatus = &r.status
	if refused || request.InfoFrom(req.Context()).LongRunning {
		r.process(ResponseStarted)
	}
	if refused {
		r.end()
	}
}

// end notes that no event follows.
func (r *Record) end() {
	r.over = true
	r.event.releaseOrigin()
}

// Complete records that the server has answered a request for which Begin returned true.
func (r *Record) Complete(req *http.Request) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || !r.decision.Level.AtLeast(Metadata) {
		return
	}
	if r.event.ResponseStatus == nil {
		r.status = metav1.Status{
			Code: http.StatusOK, Status: metav1.StatusSuccess, Message: "Connection closed early",
		}
		r.event.ResponseStatus = &r.status
		if request.InfoFrom(req.Context()).LongRunning {
			r.process(ResponseStarted)
		}
	}
	r.process(ResponseComplete)
	r.end()
}

// Panicked records that a request for which Begin returned true ends with a panic.
func (r *Record) Panicked(cause any) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || !r.decision.Level.AtLeast(Metadata) {
		return
	}
	r.status = metav1.Status{
		Code: http.StatusInternalServerError, Status: metav1.StatusFailure,
		Reason: metav1.StatusReasonInternalError, Message: fmt.Sprintf("APIServer panic'd: %v", cause),
	}
	r.event.ResponseStatus = &r.status
	r.process(Panic)
	r.end()
}

// process makes the event of a stage. It returns false if the event is lost and the request must not run.
func (r *Record) process(stage Stage) bool {
	if !r.decision.Level.AtLeast(Metadata) || slices.Contains(r.decision.Omit, stage) {
		return true
	}
	r.event.Stage = stage
	r.event.StageTimestamp = r.event.RequestReceivedTimestamp
	if stage != RequestReceived {
		r.event.StageTimestamp = microTime(time.Now())
	}
	r.auditor.Counts.Events.Add(1)
	return r.auditor.Sink.Process(&r.event)
}

// Clone returns a copy of the event for those who keep or change it. The server changes the event, its annotations, its
// object and its status when the request goes on.
func (e *Event) Clone() *Event {
	copied := *e
	copied.origin = nil
	copied.Annotations = slices.Clone(e.Annotations)
	if e.ObjectRef != nil {
		ref := *e.ObjectRef
		copied.ObjectRef = &ref
	}
	if e.ResponseStatus != nil {
		status := *e.ResponseStatus
		copied.ResponseStatus = &status
	}
	return &copied
}

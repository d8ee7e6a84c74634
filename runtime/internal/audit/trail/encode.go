package trail

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Head is how the JSON of every event begins. An item of an EventList has an opening brace in its place.
const Head = `{"kind":"Event","apiVersion":"` + Group + "/" + Version + `",`

// AppendJSON appends the JSON of the event, which begins with Head. encoding/json would take five times as long, for
// each request twice.
func (e *Event) AppendJSON(b []byte) ([]byte, error) {
	w := writer{buf: append(b, Head...)}
	w.member(`"level":`, string(e.Level))
	w.member(`,"auditID":`, e.AuditID)
	w.member(`,"stage":`, string(e.Stage))
	if e.origin != nil {
		w.buf = append(w.buf, *e.origin...)
	} else {
		w.origin(e)
	}
	w.reference(e.ObjectRef)
	w.status(e.ResponseStatus)
	w.raw(`,"requestObject":`, e.RequestObject)
	w.raw(`,"responseObject":`, e.ResponseObject)
	w.time(`,"requestReceivedTimestamp":`, e.RequestReceivedTimestamp)
	w.time(`,"stageTimestamp":`, e.StageTimestamp)
	w.annotations(e.Annotations)
	return append(w.buf, '}'), w.err
}

// origins are the buffers of events that no request has.
var origins = sync.Pool{New: func() any { return new([]byte) }}

// maxKeptOrigin is the size in bytes of the largest buffer that is used again.
const maxKeptOrigin = 4 << 10

// encodeOrigin encodes once what the events of a request have in common.
func (e *Event) encodeOrigin() {
	if e.origin == nil {
		e.origin = origins.Get().(*[]byte)
	}
	w := writer{buf: (*e.origin)[:0]}
	w.origin(e)
	if *e.origin = w.buf; w.err != nil {
		e.releaseOrigin()
	}
}

// releaseOrigin gives the buffer back, once no event of the request follows.
func (e *Event) releaseOrigin() {
	if e.origin != nil && cap(*e.origin) <= maxKeptOrigin {
		origins.Put(e.origin)
	}
	e.origin = nil
}

// origin appends what an event says of where its request comes from, which is the same at every stage of it.
func (w *writer) origin(e *Event) {
	w.member(`,"requestURI":`, e.RequestURI)
	w.member(`,"verb":`, e.Verb)
	w.user(`,"user":`, &e.User)
	if e.ImpersonatedUser != nil {
		w.user(`,"impersonatedUser":`, e.ImpersonatedUser)
	}
	if e.AuthenticationMetadata != nil {
		w.value(`,"authenticationMetadata":`, e.AuthenticationMetadata)
	}
	w.texts(`,"sourceIPs":`, e.SourceIPs)
	w.optional(`,"userAgent":`, e.UserAgent)
}

// writer appends members of a JSON object. It keeps its first error.
type writer struct {
	buf []byte
	err error
}

func (w *writer) member(name, value string) {
	w.buf = append(w.buf, name...)
	w.text(value)
}

// optional appends a member unless its value is empty.
func (w *writer) optional(name, value string) {
	if value != "" {
		w.member(name, value)
	}
}

// text appends a string, as encoding/json writes it. Quotes are usual in the reasons of authorizers.
func (w *writer) text(s string) {
	start, from := len(w.buf), 0
	w.buf = append(w.buf, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"':
			w.buf = append(append(w.buf, s[from:i]...), '\\')
			from = i
		case c < ' ' || c > '~' || c == '\\' || c == '<' || c == '>' || c == '&':
			escaped, err := json.Marshal(s)
			w.fail(err)
			w.buf = append(w.buf[:start], escaped...)
			return
		}
	}
	w.buf = append(append(w.buf, s[from:]...), '"')
}

func (w *writer) texts(name string, values []string) {
	if len(values) == 0 {
		return
	}
	w.buf = append(w.buf, name...)
	w.list(values)
}

func (w *writer) list(values []string) {
	if values == nil {
		w.buf = append(w.buf, "null"...)
		return
	}
	w.buf = append(w.buf, '[')
	for i, value := range values {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.text(value)
	}
	w.buf = append(w.buf, ']')
}

// open opens an object. shut closes it, and removes the comma in front of its first member.
func (w *writer) open(name string) int {
	w.buf = append(append(w.buf, name...), '{')
	return len(w.buf)
}

func (w *writer) shut(opened int) {
	if len(w.buf) > opened {
		w.buf = append(w.buf[:opened], w.buf[opened+1:]...)
	}
	w.buf = append(w.buf, '}')
}

func (w *writer) user(name string, u *User) {
	at := w.open(name)
	w.optional(`,"username":`, u.Username)
	w.optional(`,"uid":`, u.UID)
	w.texts(`,"groups":`, u.Groups)
	if len(u.Extra) > 0 {
		extra := w.open(`,"extra":`)
		for _, key := range slices.Sorted(maps.Keys(u.Extra)) {
			w.member(",", key)
			w.buf = append(w.buf, ':')
			w.list(u.Extra[key])
		}
		w.shut(extra)
	}
	w.shut(at)
}

func (w *writer) reference(o *ObjectReference) {
	if o == nil {
		return
	}
	at := w.open(`,"objectRef":`)
	w.optional(`,"resource":`, o.Resource)
	w.optional(`,"namespace":`, o.Namespace)
	w.optional(`,"name":`, o.Name)
	w.optional(`,"uid":`, o.UID)
	w.optional(`,"apiGroup":`, o.APIGroup)
	w.optional(`,"apiVersion":`, o.APIVersion)
	w.optional(`,"resourceVersion":`, o.ResourceVersion)
	w.optional(`,"subresource":`, o.Subresource)
	w.shut(at)
}

func (w *writer) status(s *metav1.Status) {
	switch {
	case s == nil:
	case *s == (metav1.Status{Code: s.Code}) && s.Code >= http.StatusOK: // the usual case
		w.buf = append(w.buf, `,"responseStatus":{"metadata":{},"code":`...)
		w.buf = append(strconv.AppendInt(w.buf, int64(s.Code), 10), '}')
	default:
		w.value(`,"responseStatus":`, s)
	}
}

func (w *writer) raw(name string, data json.RawMessage) {
	if len(data) > 0 {
		w.buf = append(append(w.buf, name...), data...)
	}
}

func (w *writer) time(name string, t metav1.MicroTime) {
	w.buf = append(w.buf, name...)
	if t.IsZero() {
		w.buf = append(w.buf, "null"...)
		return
	}
	// time.RFC3339 has a fast path, which metav1.RFC3339Micro hasn't.
	w.buf = t.UTC().AppendFormat(append(w.buf, '"'), time.RFC3339)
	w.buf = append(w.buf[:len(w.buf)-len("Z")], '.')
	for micros, unit := t.Nanosecond()/1000, 100_000; unit > 0; unit /= 10 {
		w.buf = append(w.buf, byte('0'+micros/unit%10))
	}
	w.buf = append(w.buf, `Z"`...)
}

func (w *writer) annotations(values Annotations) {
	if len(values) == 0 {
		return
	}
	at := w.open(`,"annotations":`)
	var few [8]Annotation
	sorted := append(few[:0], values...)
	slices.SortFunc(sorted, func(a, b Annotation) int { return strings.Compare(a.Key, b.Key) })
	for _, one := range sorted {
		w.member(",", one.Key)
		w.member(":", one.Value)
	}
	w.shut(at)
}

func (w *writer) value(name string, v any) {
	data, err := json.Marshal(v)
	w.fail(err)
	w.raw(name, data)
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

package codec

import (
	"context"
	"encoding/json"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/omission"
	"apigen.dev/runtime/internal/object/rendition"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Sent holds rules about the JSON of a value that a Go value can't be checked by: it doesn't show whether a client sent
// a zero value or none. Nil has no rules.
type Sent struct {
	// Required are the members that an object must have.
	Required []string
	// Refused are the members of an object that must not be zero, and why.
	Refused map[string]Refusal
	// Members are rules about the members of an object, and Elem those about the elements of a list or map.
	Members map[string]*Sent
	Elem    *Sent
}

// Refusal is why a zero value is refused: it is none of the supported values, or else what Fault says.
type Refusal struct {
	Supported []string
	Fault     string
}

// SentFaults returns the faults of a body that a Go value doesn't show. It returns none of a body in protobuf, whose
// objects are Go values.
func (v *Served[T]) SentFaults(body api.Body) field.ErrorList {
	data, rules := body.Data, v.codec.rules()
	switch {
	case rules == nil || body.Encoding == api.Protobuf:
		return nil
	case body.Encoding == api.CBOR:
		var object map[string]any
		if direct.Unmarshal(data, &object) != nil {
			return nil
		}
		return v.AppliedFaults(object)
	}
	return rules.faults(data)
}

// AppliedFaults is SentFaults for the object that a server-side apply made.
func (v *Served[T]) AppliedFaults(object map[string]any) field.ErrorList {
	rules := v.codec.rules()
	if rules == nil {
		return nil
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil // it can't be decoded either
	}
	return rules.faults(data)
}

// faults returns the faults of JSON; nil has no rules.
func (s *Sent) faults(data []byte) field.ErrorList {
	if s == nil {
		return nil
	}
	w := sentWalk{data: data}
	w.value(s, nil, skipSpace(data))
	return w.errs
}

func (m *mapped) omits() *omission.Shape { return nil }

func (m *mapped) rules() *Sent { return nil }

func (c *typed[T, V]) rules() *Sent { return c.sent() }

type sentKey struct{}

// WithFaults returns a context for the validation of an object that a client sent with faults.
func WithFaults(ctx context.Context, faults field.ErrorList) context.Context {
	if len(faults) == 0 {
		return ctx
	}
	return context.WithValue(ctx, sentKey{}, faults)
}

// AddFaults returns the faults of a context before those of the rules of a Go value. Generated code calls it.
func AddFaults(ctx context.Context, errs field.ErrorList) field.ErrorList {
	faults, _ := ctx.Value(sentKey{}).(field.ErrorList)
	return append(faults[:len(faults):len(faults)], errs...)
}

// sentWalk collects the faults of JSON.
type sentWalk struct {
	data []byte
	errs field.ErrorList
}

func skipSpace(data []byte) (at int) {
	for at < len(data) && (data[at] == ' ' || data[at] == '\n' || data[at] == '\t' || data[at] == '\r') {
		at++
	}
	return at
}

func (w *sentWalk) value(s *Sent, path *field.Path, at int) {
	if at >= len(w.data) {
		return
	}
	switch w.data[at] {
	case '{':
		w.members(s, path, at)
	case '[':
		n := 0
		rendition.Elements(w.data, at+1, func(start, _ int) bool {
			if s.Elem != nil {
				w.value(s.Elem, path.Index(n), start)
			}
			n++
			return true
		})
	}
}

func (w *sentWalk) members(s *Sent, path *field.Path, at int) {
	seen := 0 // of the required members, as bits
	rendition.Members(w.data, at+1, func(key []byte, start, end int) bool {
		raw := w.data[start:end]
		if s.Elem != nil {
			w.value(s.Elem, path.Key(string(key)), start)
			return true
		}
		if i := slices.Index(s.Required, string(key)); i >= 0 && string(raw) != "null" {
			seen |= 1 << i
		}
		if refusal, ok := s.Refused[string(key)]; ok {
			w.zero(refusal, path.Child(string(key)), raw)
		}
		if below := s.Members[string(key)]; below != nil {
			w.value(below, path.Child(string(key)), start)
		}
		return true
	})
	for i, name := range s.Required {
		if seen&(1<<i) == 0 {
			w.errs = append(w.errs, field.Required(path.Child(name), ""))
		}
	}
}

func (w *sentWalk) zero(refusal Refusal, path *field.Path, raw []byte) {
	var value any
	switch string(raw) {
	case `""`:
		value = ""
	case "0":
		value = int64(0)
	default:
		return
	}
	if len(refusal.Supported) > 0 {
		w.errs = append(w.errs, field.NotSupported(path, value, refusal.Supported))
		return
	}
	w.errs = append(w.errs, field.Invalid(path, value, path.String()+" in body "+refusal.Fault))
}

package codec

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"apigen.dev/runtime/internal/object/fault"
	"apigen.dev/runtime/internal/object/omission"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Sent holds rules about the JSON of a value that a Go value can't be checked by: it doesn't show whether a client sent
// a zero value or none. Nil has no rules.
type Sent struct {
	// Required are the members that an object must have.
	Required []string
	// Refused are the members of an object that must not be zero or empty, and why.
	Refused map[string]Refusal
	// Members are rules about the members of an object, and Elem those about the elements of a list or map.
	Members map[string]*Sent
	Elem    *Sent
	// Zero is why the value must not be zero or empty itself; nil if it may, or is a member in Refused of its object.
	Zero *Refusal
	// Text are the rules about a value that is text.
	Text *Text
	// Counts are rules about the number of members of an object.
	Counts []Count
}

// Counting returns the rules with others about the number of members. It changes them: generated code has just made
// them.
func (s *Sent) Counting(counts ...Count) *Sent {
	s.Counts = append(s.Counts, counts...)
	return s
}

// Text holds rules about the text of a value whose Go type has a JSON form of its own, such as metav1.Duration.
type Text struct {
	// Pattern is nil if there is none.
	Pattern *regexp.Regexp
	// MinLength and MaxLength count characters; a MaxLength of 0 means no bound.
	MinLength, MaxLength int
	// Supported are the values of an enumeration; none if there is no enumeration.
	Supported []string
}

// Refusal is why a zero value is refused: it is none of the supported values, or isn't of the type of a custom
// resource's field, as an empty text is no base64 (byte), or else what Fault says.
type Refusal struct {
	Supported   []string
	Type, Fault string
}

// SentFaults returns the faults of a body that a Go value doesn't show. It returns none of a body in protobuf, whose
// objects are Go values.
func (v *Served[T]) SentFaults(body verb.Body) field.ErrorList {
	switch {
	case body.Encoding == verb.Protobuf:
		return nil
	case body.Encoding == verb.CBOR:
		var object map[string]any
		if v.rules() == nil && (v.jsonForm() == nil || bytes.IndexByte(body.Data, nullInCBOR) < 0) ||
			direct.Unmarshal(body.Data, &object) != nil {
			return nil
		}
		return v.treeFaults(object, ofItems)
	}
	return v.jsonFaults(body.Data, ofItems)
}

// nullInCBOR is null in CBOR (RFC 8949, section 3.3). The byte may also be a part of another value.
const nullInCBOR = 0xf6

// AppliedFaults is SentFaults for the object that a server-side apply made. Null is a fault in it wherever it may not
// be, while it is no value in what other requests send.
func (v *Served[T]) AppliedFaults(object map[string]any) field.ErrorList {
	return v.treeFaults(object, ofAll)
}

func (v *Served[T]) treeFaults(object map[string]any, refused nulls) field.ErrorList {
	if v.rules() == nil && (v.jsonForm() == nil || !hasNull(object)) {
		return nil
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil // it can't be decoded either
	}
	return v.jsonFaults(data, refused)
}

// nulls says which nulls are faults: elements of lists, or all.
type nulls func(isItem bool) bool

func ofItems(isItem bool) bool { return isItem }

func ofAll(bool) bool { return true }

// hasNull reports whether there is null in a value of JSON.
func hasNull(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			if hasNull(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return v == nil
}

// jsonFaults returns the faults of JSON that a Go value doesn't show. A required member that is null is there.
func (v *Served[T]) jsonFaults(data []byte, refused nulls) field.ErrorList {
	errs := v.rules().faults(data)
	allowNullable(errs, v.jsonForm(), data)
	found, at := refused.faults(data, v.jsonForm())
	errs = slices.DeleteFunc(errs, func(e *field.Error) bool {
		return e.Type == field.ErrorTypeRequired && at[e.Field]
	})
	return append(errs, found...)
}

// faults returns the faults of values that are null, and the paths of these. Few objects have any.
func (n nulls) faults(data []byte, form *omission.Form) (errs field.ErrorList, paths map[string]bool) {
	form.Nulls(data, func(place *fault.Place, of string, isItem bool) bool {
		if !n(isItem) {
			return true
		}
		if paths == nil {
			paths = map[string]bool{}
		}
		at := place.Path("")
		if len(errs) == mostFaults {
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("it is null, as are %d before it", mostFaults)))
			return false
		}
		e := field.TypeInvalid(at, nil, fmt.Sprintf(`%s in body must be of type %s: "null"`, at, of))
		errs, paths[e.Field] = append(errs, e), true
		return true
	})
	return errs, paths
}

// allowedNull is the type of a fault that is none: a required member is null, and may be. Nothing else is said of it.
const allowedNull field.ErrorType = "allowed null"

// allowNullable finds the faults about required members that are null, and may be.
func allowNullable(errs field.ErrorList, form *omission.Form, data []byte) {
	var object any
	for _, e := range errs {
		if e.Type != field.ErrorTypeRequired || !form.Nullable(steps(e.Field)) {
			continue
		}
		if object == nil && json.Unmarshal(data, &object) != nil {
			return
		}
		if has(parentOf(object, e.Field)) {
			e.Type = allowedNull
		}
	}
}

// faults returns the faults of JSON; nil has no rules.
func (s *Sent) faults(data []byte) field.ErrorList {
	if s == nil {
		return nil
	}
	w := sentWalk{data: data}
	w.value(s, skipSpace(data), len(data))
	return w.errs
}

func (c *typed[T, V]) rules() *Sent { return c.sent() }

type sentKey struct{}

// WithFaults returns a context for the validation of an object that a client sent with faults.
func WithFaults(ctx context.Context, faults field.ErrorList) context.Context {
	if len(faults) == 0 {
		return ctx
	}
	return context.WithValue(ctx, sentKey{}, faults)
}

// AddFaults returns the faults of a context before those of the rules of a Go value, without those about numbers of
// members that JSON doesn't have. Of a value that the client left out, or that was null, nothing else is said.
// Generated code calls it, before it checks rules in CEL.
func AddFaults(ctx context.Context, errs field.ErrorList) field.ErrorList {
	if r, ok := ctx.Value(recountKey{}).(*recount); ok {
		errs = r.after(errs)
	}
	faults, _ := ctx.Value(sentKey{}).(field.ErrorList)
	if len(faults) == 0 {
		return errs
	}
	absent := map[string]bool{}
	var out field.ErrorList
	for _, f := range faults {
		if f.Type == field.ErrorTypeRequired || f.Type == field.ErrorTypeTypeInvalid && f.BadValue == nil ||
			f.Type == allowedNull {
			absent[f.Field] = true
		}
		if f.Type != allowedNull {
			out = append(out, f)
		}
	}
	for _, e := range errs {
		if !within(absent, e.Field) {
			out = append(out, e)
		}
	}
	return out
}

// within reports whether a path is one of those in a set, or leads below one of them.
func within(paths map[string]bool, path string) bool {
	for end := len(path); end > 0 && len(paths) > 0; end = strings.LastIndexAny(path[:end], ".[") {
		if paths[path[:end]] {
			return true
		}
	}
	return false
}

// mostFaults is how many faults of one member of an object are collected. With more, the object is refused whatever
// becomes of them.
const mostFaults = 10_000

// sentWalk collects the faults of JSON.
type sentWalk struct {
	fault.Place
	data []byte
	errs field.ErrorList
	// last is the length of errs from which on the present member of the object gets no more; over reports whether it
	// would.
	last int
	over bool
}

// full reports whether the present member of the object has all the faults that are collected. If so, one of them says
// that there are more.
func (w *sentWalk) full() bool {
	if len(w.At) == 0 || len(w.errs) < w.last {
		return false
	}
	if !w.over {
		w.over = true
		path := field.NewPath(string(w.At[0].Name))
		w.errs = append(w.errs, field.Forbidden(path, fmt.Sprintf("it has more than %d faults", mostFaults)))
	}
	return true
}

// below checks the value to which a step leads.
func (w *sentWalk) below(s *Sent, to fault.Step, start, end int) {
	if len(w.At) == 0 {
		w.last, w.over = len(w.errs)+mostFaults, false
	}
	w.At = append(w.At, to)
	w.value(s, start, end)
	w.At = w.At[:len(w.At)-1]
}

func skipSpace(data []byte) (at int) {
	for at < len(data) && (data[at] == ' ' || data[at] == '\n' || data[at] == '\t' || data[at] == '\r') {
		at++
	}
	return at
}

func (w *sentWalk) value(s *Sent, at, end int) {
	if at >= end {
		return
	}
	if s.Zero != nil {
		w.zero(*s.Zero, nil, w.data[at:end])
	}
	switch w.data[at] {
	case '{':
		w.members(s, at)
	case '[':
		w.elements(s, at)
	default:
		if s.Text != nil {
			w.text(s.Text, w.data[at:end])
		}
	}
}

func (w *sentWalk) elements(s *Sent, at int) {
	if s.Elem == nil {
		return
	}
	n := 0
	rendition.Elements(w.data, at+1, func(start, end int) bool {
		w.below(s.Elem, fault.Step{Index: n}, start, end)
		n++
		return true
	})
}

// text checks the raw text of a string or a number.
func (w *sentWalk) text(t *Text, raw []byte) {
	if w.full() {
		return
	}
	text := string(raw)
	if raw[0] == '"' {
		if json.Unmarshal(raw, &text) != nil {
			return
		}
		w.characters(t, text)
	}
	if len(t.Supported) > 0 && text != "null" && !slices.Contains(t.Supported, text) {
		w.errs = append(w.errs, field.NotSupported(w.Path(""), text, t.Supported))
	}
}

func (w *sentWalk) characters(t *Text, text string) {
	n := utf8.RuneCountInString(text)
	if t.MaxLength > 0 && n > t.MaxLength {
		fault := field.TooLong(w.Path(""), text, t.MaxLength)
		fault.BadValue = text // by which Standing finds it
		w.errs = append(w.errs, fault)
	}
	if n < t.MinLength {
		path := w.Path("")
		fault := fmt.Sprintf("%s in body should be at least %d chars long", path, t.MinLength)
		w.errs = append(w.errs, field.Invalid(path, text, fault))
	}
	if t.Pattern != nil && !t.Pattern.MatchString(text) {
		path := w.Path("")
		w.errs = append(w.errs, field.Invalid(path, text, fmt.Sprintf("%s in body should match '%s'", path, t.Pattern)))
	}
}

func (w *sentWalk) members(s *Sent, at int) {
	var few [16]bool
	seen := few[:] // which of the required members are there
	if len(s.Required) > len(few) {
		seen = make([]bool, len(s.Required))
	}
	rendition.Members(w.data, at+1, func(key []byte, start, end int) bool {
		raw := w.data[start:end]
		if s.Elem != nil {
			w.below(s.Elem, fault.Step{Name: key, InMap: true}, start, end)
			return true
		}
		if i := slices.Index(s.Required, string(key)); i >= 0 && string(raw) != "null" {
			seen[i] = true
		}
		if refusal, ok := s.Refused[string(key)]; ok {
			w.zero(refusal, key, raw)
		}
		if below := s.Members[string(key)]; below != nil {
			w.below(below, fault.Step{Name: key}, start, end)
		}
		return true
	})
	for i, name := range s.Required {
		if !seen[i] && !w.full() {
			w.errs = append(w.errs, field.Required(w.Path(name), ""))
		}
	}
}

// zeroText returns the usual form of JSON that is false, 0, or an empty text, list or object, and whether it is that.
func zeroText(raw []byte) (text string, ok bool) {
	switch raw[0] {
	case '[':
		return "[]", isEmpty(raw)
	case '{':
		return "{}", isEmpty(raw)
	case '"':
		return `""`, len(raw) == 2
	case 'f':
		return "false", true
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	return "0", err == nil && n == 0
}

// zero checks a member of the object that is looked at or, if key is nil, that value itself.
func (w *sentWalk) zero(refusal Refusal, key, raw []byte) {
	text, ok := zeroText(raw)
	if !ok {
		return
	}
	var value any = 0
	switch text {
	case `""`:
		value = ""
	case "false":
		value = false
	}
	if w.full() {
		return
	}
	path := w.Path(string(key))
	switch {
	case len(refusal.Supported) > 0:
		w.errs = append(w.errs, field.NotSupported(path, value, refusal.Supported))
	case refusal.Type != "": // which keeps rules in CEL from running
		fault := fmt.Sprintf(`%s in body must be of type %s: ""`, path, refusal.Type)
		w.errs = append(w.errs, field.TypeInvalid(path, value, fault))
	default:
		w.errs = append(w.errs, field.Invalid(path, value, path.String()+" in body "+refusal.Fault))
	}
}

// isEmpty reports whether JSON is a list without elements, or an object without members that aren't null.
func isEmpty(raw []byte) bool {
	switch raw[0] {
	case '[':
		return 1+skipSpace(raw[1:]) == len(raw)-1
	case '{':
		empty := true
		rendition.Members(raw, 1, func(_ []byte, start, _ int) bool {
			empty = raw[start] == 'n'
			return empty
		})
		return empty
	}
	return false
}

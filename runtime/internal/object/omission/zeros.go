package omission

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"

	"apigen.dev/runtime/internal/object/rendition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Zeros knows in what the JSON of a Go type differs from what a client sent. It lacks zero values, whose fields have
// omitempty or omitzero, and null; it has the zero values of other fields, although nobody sent them; and it has texts
// in another form. Zeros is safe for concurrent use. Nil knows none.
type Zeros struct {
	members map[string]*field
	// watched are the members of which something is known where an object lacks them.
	watched []watched
	// text is the type of a text or number that has its own JSON, such as metav1.Duration; nil of other types.
	text reflect.Type
	// elem knows those in the elements of a list, and in the values of a map. isMap reports whether it is a map. items
	// is the type of the elements in a schema, "" where they may be null.
	elem  *Zeros
	isMap bool
	items string
	// fills reports whether there is a field below that fills; fillable are the members at and in which there is one.
	fills    bool
	fillable []string
}

// watched is a member of a struct.
type watched struct {
	name  string
	field *field
}

// field is a field of a struct. index is that of reflect.
type field struct {
	of    reflect.Type
	index []int
	// typ is the type in a schema, "" where that isn't known.
	typ string
	// zero is the JSON of the zero value; "" if a value that a client sends can't be that.
	zero string
	// omitted reports whether JSON lacks the field where it is zero; of one that isn't, JSON lacks null.
	omitted bool
	// filler is the zero value that JSON has although nobody sent it, and fillerValue is that decoded; nil if JSON has
	// none.
	filler      []byte
	fillerValue any
	// fills: the field is a struct that gets no defaults inside where an object lacks it. empty is the JSON of one that
	// a client sent without members, in whose place a default of its own would be set; "" if it has none.
	fills bool
	empty string
	// refilled: a default takes the place of the zero value.
	refilled bool
	// nullable: null is kept. nullItems: the elements of a list in the field may be null.
	nullable, nullItems bool
	// schemaless: what is inside has no schema. untyped: nor has the field.
	schemaless, untyped bool
	// defaulted: the field has a default that is known here. defaultValue is what JSON lacks of that, or has in another
	// form, and defaultZero the default, if it is zero; both may be nil.
	defaulted                 bool
	defaultValue, defaultZero *SentZeros
	// watched is the place of the field in those that are, counted from 1; 0 of others.
	watched int
	below   *Zeros
}

// ZerosOf returns the zero values that the JSON of objects of a type lacks, but for those in metadata. It takes some
// time: callers keep it.
func ZerosOf(t reflect.Type) *Zeros {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	z := zerosBuilder{}.of(t)
	if z != nil {
		delete(z.members, rendition.MetadataKey)
	}
	return z
}

// zerosBuilder has what is known of each type, so that a type may hold itself.
type zerosBuilder map[reflect.Type]*Zeros

// of returns what is known of a type, or nil where its JSON is its own or has no members.
func (b zerosBuilder) of(t reflect.Type) *Zeros {
	if z, known := b[t]; known {
		return z
	}
	if hasOwnJSON(t) {
		if t == reflect.TypeFor[intstr.IntOrString]() {
			return nil // it is written as it was read
		}
		b[t] = &Zeros{text: t}
		return b[t]
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.of(t.Elem())
	case reflect.Struct:
		z := &Zeros{members: map[string]*field{}}
		b[t] = z
		eachField(t, nil, func(f reflect.StructField, name, options string, index []int) {
			if known, ok := z.members[name]; !ok || len(index) < len(known.index) {
				omitted := isOptional(options)
				zero := zeroOf(f.Type, omitted)
				if hasOption(options, "string") && (zero == "0" || zero == "false" || zero == `""`) {
					zero = strconv.Quote(zero)
				}
				z.members[name] = &field{
					of: f.Type, index: index, typ: schemaType(f.Type), below: b.of(f.Type), zero: zero,
					omitted: omitted,
				}
			}
		})
		if t == reflect.TypeFor[metav1.ObjectMeta]() {
			z.leaveOutOfSchemas(embeddedMetadata)
		}
		return z
	case reflect.Slice, reflect.Map:
		z := &Zeros{isMap: t.Kind() == reflect.Map}
		b[t] = z
		z.elem = b.of(t.Elem())
		z.items = schemaType(t.Elem())
		return z
	}
	return nil
}

// embeddedMetadata are the members of the metadata of a template, in a spec, that controller-gen writes into schemas.
var embeddedMetadata = []string{"name", "namespace", "labels", "annotations", "finalizers"}

// leaveOutOfSchemas notes that no schema has the members of a struct, but for some.
func (z *Zeros) leaveOutOfSchemas(but []string) {
	for name, f := range z.members {
		if !slices.Contains(but, name) {
			f.schemaless, f.untyped = true, true
		}
	}
}

// zeroOf returns the JSON of the zero value of a field; "" if there is none but null. An empty list or map isn't zero
// unless the field is omitted for it.
func zeroOf(t reflect.Type, omitted bool) string {
	if hasOwnJSON(t) {
		if zero, err := json.Marshal(reflect.New(t).Interface()); err == nil && string(zero) != "null" {
			return string(zero)
		}
		return ""
	}
	switch t.Kind() {
	case reflect.String:
		return `""`
	case reflect.Bool:
		return "false"
	case reflect.Struct:
		return structZero
	case reflect.Map:
		if omitted {
			return "{}"
		}
	case reflect.Slice:
		switch {
		case !omitted:
		case t.Elem().Kind() == reflect.Uint8:
			return `""`
		default:
			return "[]"
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return "0"
	}
	return ""
}

// structZero stands for the zero value of a struct, whose JSON has its fields without omitempty.
const structZero = "struct"

// In returns what is in the JSON of an object that the JSON of its Go value lacks. defaults reports whether defaults
// take the place of what is absent.
func (z *Zeros) In(data []byte, defaults bool) *SentZeros {
	at := bytes.IndexByte(data, '{')
	if z == nil || at < 0 {
		return nil
	}
	sent, _, _ := scanner{data, defaults}.value(z, at)
	return sent
}

// scanner looks for what a Go value lacks in data. For defaults, see In.
type scanner struct {
	data     []byte
	defaults bool
}

// value returns what is in the value at an index of data, and the index behind it. whole is the value, if it is the
// zero value of a struct or an empty map, or else nil.
func (s scanner) value(z *Zeros, at int) (sent, whole *SentZeros, end int) {
	switch {
	case z == nil || at >= len(s.data):
	case z.text != nil:
		end = rendition.Skip(s.data, at)
		return z.scanText(s.data, at, end), nil, end
	case s.data[at] == '{' && z.members != nil:
		return s.object(z, at)
	case s.data[at] == '{' && z.isMap:
		return s.entries(z, at)
	case s.data[at] == '[' && z.elem != nil:
		var found members
		n := 0
		end = rendition.EachElement(s.data, at+1, func(start int) int {
			sent, end := s.element(z.elem, start)
			found = found.and(strconv.Itoa(n), sent)
			n++
			return end
		})
		return found.sent(""), nil, end
	}
	return nil, nil, rendition.Skip(s.data, at)
}

// element is value for an element of a list or map, which isn't left out if it is zero.
func (s scanner) element(z *Zeros, at int) (sent *SentZeros, end int) {
	sent, whole, end := s.value(z, at)
	if whole != nil && z.isMap {
		sent = members(whole.Below).sent("")
	}
	return sent, end
}

// isNull reports whether the value at an index of JSON, which may end there, is null.
func isNull(data []byte, at int) bool { return at < len(data) && data[at] == 'n' }

// entries is value for a map. One that has null alone is empty.
func (s scanner) entries(z *Zeros, at int) (sent, whole *SentZeros, end int) {
	var found members
	empty := true
	end = rendition.EachMember(s.data, at+1, func(key []byte, start int) int {
		sent, end := s.element(z.elem, start)
		if isNull(s.data, start) {
			sent = &SentZeros{Zero: absent}
		} else {
			empty = false
		}
		found.set(key, sent)
		return end
	})
	if empty {
		return nil, found.sent("{}"), end
	}
	return found.sent(""), nil, end
}

// object is value for a struct.
func (s scanner) object(z *Zeros, at int) (sent, whole *SentZeros, end int) {
	var found, all members // all are the members of a zero value
	var few [16]bool
	there := few[:] // which of the watched members, from 1 on
	if len(z.watched) >= len(few) {
		there = make([]bool, len(z.watched)+1)
	}
	zero := true
	end = rendition.EachMember(s.data, at+1, func(key []byte, start int) int {
		f := z.members[string(key)]
		switch none := isNull(s.data, start); {
		case f == nil || none && !f.nullable:
			found.set(key, f.keptNull())
			all.set(key, f.keptNull())
			return rendition.Skip(s.data, start)
		case none:
			there[f.watched] = true
			found.set(key, sentNull)
			all.set(key, sentNull)
			return rendition.Skip(s.data, start)
		}
		there[f.watched] = true
		sent, whole, end := s.field(f, start)
		if whole != nil && (f.omitted || f.refilled || f.empty != "") {
			sent = whole
		}
		found.set(key, sent)
		if zero = zero && whole != nil; zero {
			all.set(key, whole)
		}
		return end
	})
	for i, w := range z.watched {
		if !there[i+1] {
			missed, whole := w.field.missed(s.defaults)
			found, all = found.and(w.name, missed), all.and(w.name, whole)
		}
	}
	if zero {
		whole = all.sent("{}")
	}
	return found.sent(""), whole, end
}

// field returns what is in a value of the field, and the index behind it. whole is the value if it is zero, or else
// nil.
func (s scanner) field(f *field, start int) (sent, whole *SentZeros, end int) {
	sent, whole, end = s.value(f.below, start)
	switch {
	case f.zero == structZero || end < 0:
	case f.zero == "{}" && whole != nil:
	case sent != nil && sent.Text != "" && sent.Canonical == f.zero:
		whole = &SentZeros{Zero: sent.Text, Canonical: sent.Canonical}
	case f.zero != "" && isZero(s.data[start:end], f.zero):
		whole = &SentZeros{Zero: string(s.data[start:end])}
	default:
		if whole != nil && f.below.isMap { // which isn't left out
			sent = members(whole.Below).sent("")
		}
		whole = nil
	}
	return sent, whole, end
}

// isZero reports whether JSON is a zero value, whose usual form is known. A quantity may also be a number.
func isZero(raw []byte, zero string) bool {
	switch zero {
	case "0":
		n, err := strconv.ParseFloat(string(raw), 64)
		return err == nil && n == 0
	case "[]", "{}":
		return raw[0] == zero[0] && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
	case `"0"`:
		return string(raw) == zero || string(raw) == "0"
	}
	return string(raw) == zero
}

// Insert returns the JSON of an object with zero values that it lacks. It leaves out those that the JSON of the type
// would have, or that are of another type: an object may have been sent in another version.
func (z *Zeros) Insert(data []byte, sent *SentZeros) []byte {
	if z == nil || sent == nil {
		return data
	}
	i := inserter{data: data, out: make([]byte, 0, len(data)+64)}
	if i.value(z, sent, 0) < 0 {
		return data
	}
	return append(i.out, data[i.at:]...)
}

// inserter copies data to out, with what it lacks. at is the index up to which it has.
type inserter struct {
	data, out []byte
	at        int
}

// value copies a value of JSON with what it lacks, and returns the index behind it. It doesn't copy the rest of it.
func (i *inserter) value(z *Zeros, sent *SentZeros, at int) (end int) {
	switch {
	case z != nil && z.text != nil && sent != nil && sent.Text != "":
		if end = rendition.Skip(i.data, at); end > 0 && string(i.data[at:end]) == sent.Canonical {
			i.out = append(append(i.out, i.data[i.at:at]...), sent.Text...)
			i.at = end
		}
		return end
	case z == nil || sent == nil || len(sent.Below) == 0 || at >= len(i.data):
	case i.data[at] == '{':
		return i.members(z, sent, at)
	case i.data[at] == '[':
		n := -1
		return rendition.EachElement(i.data, at+1, func(start int) int {
			n++
			return i.value(z.elem, sent.At(strconv.Itoa(n)), start)
		})
	}
	return rendition.Skip(i.data, at)
}

func (i *inserter) members(z *Zeros, sent *SentZeros, at int) (end int) {
	var few [16]bool
	has := few[:] // which of the members below are there
	if len(sent.Below) > len(few) {
		has = make([]bool, len(sent.Below))
	}
	empty := true
	end = rendition.EachMember(i.data, at+1, func(key []byte, start int) int {
		n, found := sent.find(key)
		if !found {
			empty = false
			return rendition.Skip(i.data, start)
		}
		has[n] = true
		elem := z.elem
		if f := z.members[sent.Below[n].Name]; f != nil {
			if end, ok := f.isFiller(sent.Below[n].Sent, i.data, start); ok {
				i.leaveOut(memberSpan(i.data, key, start, end, !empty))
				has[n] = sent.Below[n].Sent.Zero == unsent // null comes in its place
				return end
			}
			elem = f.below
		}
		empty = false
		return i.value(elem, sent.Below[n].Sent, start)
	})
	if end < 0 {
		return end
	}
	i.out = append(i.out, i.data[i.at:end-1]...)
	i.at = end - 1
	for n, m := range sent.Below {
		if f := z.members[m.Name]; !has[n] && f != nil && f.isMissing(m.Sent) {
			i.out = f.appendZero(appendKey(i.out, m.Name, empty), m.Sent)
			empty = false
		}
	}
	return end
}

// missed returns what is known of a field that an object lacks, or nil; and of one in a struct that is zero. defaults
// take the place of what is absent, if there are any.
func (f *field) missed(defaults bool) (sent, whole *SentZeros) {
	switch {
	case defaults && f.defaulted:
		return f.defaultValue, cmp.Or(f.defaultZero, f.defaultValue)
	case f.filler != nil:
		return sentNot, sentNot
	}
	return nil, nil
}

// keptNull returns what is known of a field that may not be null, and was sent as null: a Go value may have that.
func (f *field) keptNull() *SentZeros {
	if f != nil && f.omitted && f.of == reflect.TypeFor[json.RawMessage]() {
		return &SentZeros{Zero: absent}
	}
	return nil
}

// leaveOut copies what is before a span, and passes over the span.
func (i *inserter) leaveOut(cut span) {
	i.out = append(i.out, i.data[i.at:cut.start]...)
	i.at = cut.end
}

// isFiller reports whether a value at an index of JSON is the zero value of the field, and wasn't sent, or was sent as
// null. If so, it returns the index behind it.
func (f *field) isFiller(s *SentZeros, data []byte, start int) (end int, yes bool) {
	end = start + len(f.filler)
	return end, f.replacesFiller(s) && end < len(data) && bytes.HasPrefix(data[start:], f.filler) &&
		(data[end] == ',' || data[end] == '}')
}

// replacesFiller reports whether a field of which s is known hasn't the zero value that JSON has.
func (f *field) replacesFiller(s *SentZeros) bool {
	return f.filler != nil && (s.Zero == unsent || s.Zero == null && f.nullable)
}

// isMissing reports whether a value is one of the field that JSON lacks.
func (f *field) isMissing(s *SentZeros) bool { return (f.omitted || s.Zero == null) && f.mayBe(s) }

// mayBe reports whether a value is a zero value of the field.
func (f *field) mayBe(s *SentZeros) bool {
	switch {
	case s.Zero == null:
		return f.nullable
	case f.zero == structZero:
		return s.Zero == "{}"
	}
	return s.Zero != "" && f.zero != "" && (s.Canonical == f.zero || isZero([]byte(s.Zero), f.zero))
}

// appendZero appends a zero value of the field, which may be one.
func (f *field) appendZero(out []byte, s *SentZeros) []byte {
	if f.zero != structZero || s.Zero == null {
		return append(out, s.Zero...)
	}
	out = append(out, '{')
	first := true
	for _, b := range s.Below {
		if inner := f.below.members[b.Name]; inner != nil && inner.mayBe(b.Sent) {
			out = inner.appendZero(appendKey(out, b.Name, first), b.Sent)
			first = false
		}
	}
	return append(out, '}')
}

func appendKey(out []byte, name string, first bool) []byte {
	if !first {
		out = append(out, ',')
	}
	return append(appendText(out, name), ':')
}

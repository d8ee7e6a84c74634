package omission

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"

	"apigen.dev/runtime/internal/object/rendition"
)

// Zeros knows the zero values that the JSON of a Go type lacks, because their fields have omitempty or omitzero,
// although a client may have sent them. It is safe for concurrent use. Nil knows none.
type Zeros struct {
	members map[string]*field
	// elem knows those in the elements of a list, and in the values of a map. isMap reports whether it is a map.
	elem  *Zeros
	isMap bool
	// fills reports whether there is a field below that fills; fillable are the members at and in which there is one.
	fills    bool
	fillable []string
}

// field is a field of a struct. index is that of reflect.
type field struct {
	index []int
	// zero is the JSON of the zero value; "" if a value that a client sends can't be that.
	zero string
	// omitted reports whether JSON lacks the field where it is zero.
	omitted bool
	// fills: the field is a struct that gets no defaults inside where an object lacks it.
	fills bool
	below *Zeros
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
		return nil
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
				z.members[name] = &field{index: index, zero: zero, omitted: omitted, below: b.of(f.Type)}
			}
		})
		return z
	case reflect.Slice, reflect.Array, reflect.Map:
		z := &Zeros{isMap: t.Kind() == reflect.Map}
		b[t] = z
		z.elem = b.of(t.Elem())
		return z
	}
	return nil
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

// In returns the zero values in the JSON of an object that the JSON of its Go value lacks.
func (z *Zeros) In(data []byte) *SentZeros {
	at := bytes.IndexByte(data, '{')
	if z == nil || at < 0 {
		return nil
	}
	sent, _, _ := z.scan(data, at)
	return sent
}

// scan returns those in the value at an index of data, and the index behind it. whole is the value, if it is the zero
// value of a struct or an empty map, or else nil.
func (z *Zeros) scan(data []byte, at int) (sent, whole *SentZeros, end int) {
	switch {
	case z == nil || at >= len(data):
	case data[at] == '{' && z.members != nil:
		return z.scanStruct(data, at)
	case data[at] == '{' && z.isMap:
		return z.scanMap(data, at)
	case data[at] == '[' && z.elem != nil:
		var found members
		n := 0
		end = rendition.EachElement(data, at+1, func(start int) int {
			sent, _, end := z.elem.scan(data, start)
			if sent != nil {
				found = append(found, Member{strconv.Itoa(n), sent})
			}
			n++
			return end
		})
		return found.sent(""), nil, end
	}
	return nil, nil, rendition.Skip(data, at)
}

// scanMap is scan for a map. One that has null alone is empty.
func (z *Zeros) scanMap(data []byte, at int) (sent, whole *SentZeros, end int) {
	var found members
	empty := true
	end = rendition.EachMember(data, at+1, func(key []byte, start int) int {
		sent, _, end := z.elem.scan(data, start)
		if start < len(data) && data[start] == 'n' {
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

func (z *Zeros) scanStruct(data []byte, at int) (sent, whole *SentZeros, end int) {
	var found, all members // all are the members of a zero value
	zero := true
	end = rendition.EachMember(data, at+1, func(key []byte, start int) int {
		f := z.members[string(key)]
		if f == nil || start < len(data) && data[start] == 'n' {
			found.set(key, nil)
			return rendition.Skip(data, start)
		}
		sent, whole, end := f.scan(data, start)
		if whole != nil && f.omitted {
			sent = whole
		}
		found.set(key, sent)
		if zero = zero && whole != nil; zero {
			all.set(key, whole)
		}
		return end
	})
	if zero {
		whole = all.sent("{}")
	}
	return found.sent(""), whole, end
}

// scan returns those in a value of the field, and the index behind it. whole is the value if it is zero, or else nil.
func (f *field) scan(data []byte, start int) (sent, whole *SentZeros, end int) {
	sent, whole, end = f.below.scan(data, start)
	switch {
	case f.zero == structZero || end < 0:
	case f.zero == "{}" && whole != nil:
	case f.zero != "" && isZero(data[start:end], f.zero):
		whole = &SentZeros{Zero: string(data[start:end])}
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
		empty = false
		n, found := sent.find(key)
		if !found {
			return rendition.Skip(i.data, start)
		}
		has[n] = true
		elem := z.elem
		if f := z.members[sent.Below[n].Name]; f != nil {
			elem = f.below
		}
		return i.value(elem, sent.Below[n].Sent, start)
	})
	if end < 0 {
		return end
	}
	i.out = append(i.out, i.data[i.at:end-1]...)
	i.at = end - 1
	for n, m := range sent.Below {
		if f := z.members[m.Name]; !has[n] && f != nil && f.omitted && f.mayBe(m.Sent) {
			i.out = f.appendZero(appendKey(i.out, m.Name, empty), m.Sent)
			empty = false
		}
	}
	return end
}

// mayBe reports whether a value is a zero value of the field.
func (f *field) mayBe(s *SentZeros) bool {
	if f.zero == structZero {
		return s.Zero == "{}"
	}
	return s.Zero != "" && f.zero != "" && isZero([]byte(s.Zero), f.zero)
}

// appendZero appends a zero value of the field, which may be one.
func (f *field) appendZero(out []byte, s *SentZeros) []byte {
	if f.zero != structZero {
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

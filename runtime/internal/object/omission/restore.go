package omission

import (
	"encoding"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"sort"
	"strconv"

	kjson "sigs.k8s.io/json"
)

// restore sets to zero what was sent as zero, or is absent, in the Go value of an object: defaults may have taken its
// place.
func (z *Zeros) restore(v reflect.Value, sent *SentZeros) {
	if v = pointed(v); z == nil || sent == nil || !v.IsValid() {
		return
	}
	keys := keysOf(v)
	for _, m := range sent.Below {
		switch v.Kind() {
		case reflect.Struct:
			f, value := z.field(v, m.Name)
			switch {
			case m.Sent.Zero == unsent: // which may have a default
			case m.Sent == sentEmpty:
				f.makeEmpty(value)
			case m.Sent.Zero == "" || m.Sent.Zero != absent && m.Sent.Zero != null && f.zero == structZero:
				f.below.restore(value, m.Sent)
			case value.IsValid() && (m.Sent.Zero == absent || !f.isZero(value)):
				value.SetZero()
				if m.Sent.Zero == "{}" && value.Kind() == reflect.Map { // as it is decoded
					value.Set(reflect.MakeMap(value.Type()))
				}
			}
		case reflect.Slice:
			z.elem.restore(element(v, m.Name), m.Sent)
		case reflect.Map:
			if key, value := keys.entry(v, m.Name); m.Sent.Zero == absent && value.IsValid() {
				v.SetMapIndex(key, reflect.Value{})
			} else if value.IsValid() {
				changed := reflect.New(v.Type().Elem()).Elem()
				changed.Set(value)
				z.elem.restore(changed, m.Sent)
				v.SetMapIndex(key, changed)
			}
		}
	}
}

// Held returns which of the values that were sent as zero still are, in the Go value of an object: code may have set
// them, or removed what they were in. Elements of lists may have moved.
func (z *Zeros) Held(obj any, sent *SentZeros) *SentZeros { return z.held(reflect.ValueOf(obj), sent) }

func (z *Zeros) held(v reflect.Value, sent *SentZeros) *SentZeros {
	if v = pointed(v); z == nil || sent == nil || !v.IsValid() {
		return nil
	}
	if z.text != nil {
		return z.heldText(v, sent)
	}
	var below members
	if v.Kind() == reflect.Slice {
		below = z.heldElements(v, sent)
	} else {
		keys := keysOf(v)
		for _, m := range sent.Below {
			if held := z.heldMember(v, keys, m); held != nil {
				below = append(below, Member{m.Name, held})
			}
		}
	}
	if held := sent.with(below); !held.isEmpty() {
		return held
	}
	return nil
}

// heldMember is held for a member of a struct or map.
func (z *Zeros) heldMember(v reflect.Value, keys keys, m Member) *SentZeros {
	if v.Kind() == reflect.Map {
		_, value := keys.entry(v, m.Name)
		return z.elem.held(value, m.Sent)
	}
	f, value := z.field(v, m.Name)
	switch {
	case !value.IsValid() && z.members[m.Name] != nil: // nothing is in the embedded struct
		return m.Sent
	case m.Sent.Zero == "" || m.Sent.Zero != null && m.Sent.Zero != unsent && f.zero == structZero:
		return f.below.held(value, m.Sent)
	case value.IsValid() && f.isZero(value):
		return m.Sent
	}
	return nil
}

// heldElements is held for the elements of a list. An element is looked for by its JSON. One that code has changed is
// taken to be where it was, or else where there is one that is zero where it was zero.
func (z *Zeros) heldElements(v reflect.Value, sent *SentZeros) members {
	p := places{of: z.elem, list: v, at: map[int]*SentZeros{}}
	rest := p.findUnchanged(sent.Below)
	rest = slices.DeleteFunc(rest, func(m Member) bool { return p.holds(indexOf(m), m.Sent) })
	for i, tries := 0, 0; i < len(rest); i++ {
		for at := 0; at < v.Len() && tries < maxTries && !p.holds(at, rest[i].Sent); at++ {
			tries++
		}
	}
	var out members
	for at, s := range p.at {
		out = append(out, Member{strconv.Itoa(at), s})
	}
	sort.Sort(out)
	return out
}

// maxTries is how many elements of a list are looked at for those that code has both moved and changed.
const maxTries = 1000

// places are the places of elements in a list.
type places struct {
	of   *Zeros
	list reflect.Value
	// at are the elements that are found. A place has one at most.
	at map[int]*SentZeros
}

// findUnchanged finds elements by their digests, those first that are where they were, and returns the others.
func (p *places) findUnchanged(elements members) members {
	free := map[string][]int{}
	for at := range p.list.Len() {
		d := digest(p.list.Index(at))
		free[d] = append(free[d], at)
	}
	moved := slices.DeleteFunc(slices.Clone(elements), func(m Member) bool {
		at := indexOf(m)
		_, same := slices.BinarySearch(free[m.Sent.Digest], at)
		if same {
			p.at[at] = m.Sent
		}
		return same
	})
	return slices.DeleteFunc(moved, func(m Member) bool {
		all := free[m.Sent.Digest]
		for len(all) > 0 && p.at[all[0]] != nil {
			all = all[1:]
		}
		free[m.Sent.Digest] = all
		if len(all) > 0 {
			p.at[all[0]] = m.Sent
		}
		return len(all) > 0
	})
}

// holds puts an element at a place if it is zero there where it was zero.
func (p *places) holds(at int, s *SentZeros) bool {
	if at < 0 || at >= p.list.Len() || p.at[at] != nil {
		return false
	}
	held := p.of.held(p.list.Index(at), s)
	if held.count() != s.count() {
		return false
	}
	p.at[at] = held
	return true
}

// indexOf returns the index of an element, or -1.
func indexOf(m Member) int {
	if at, err := strconv.Atoi(m.Name); err == nil {
		return at
	}
	return -1
}

// identified returns SentZeros with the digests of elements of lists in the Go value of an object, and without what
// wasn't sent and has a value nevertheless: a default.
func (z *Zeros) identified(v reflect.Value, sent *SentZeros) *SentZeros {
	if v = pointed(v); z == nil || sent == nil || !v.IsValid() {
		return sent
	}
	below, keys := members(sent.Below), keysOf(v)
	for i, m := range sent.Below {
		s := m.Sent
		switch v.Kind() {
		case reflect.Struct:
			f, value := z.field(v, m.Name)
			if s.Zero != unsent {
				s = f.below.identified(value, s)
			} else if !value.IsValid() || !f.isZero(value) {
				s = nil
			}
		case reflect.Map:
			_, value := keys.entry(v, m.Name)
			s = z.elem.identified(value, s)
		case reflect.Slice:
			if value := element(v, m.Name); value.IsValid() {
				s = z.elem.identified(value, s)
				known := *s
				known.Digest = digest(value)
				s = &known
			}
		}
		if s.isEmpty() {
			s = nil
		}
		if s != m.Sent && &below[0] == &sent.Below[0] {
			below = slices.Clone(below)
		}
		below[i].Sent = s
	}
	return sent.with(slices.DeleteFunc(below, func(m Member) bool { return m.Sent == nil }))
}

// digest returns a short text for the JSON of a value; "" if it has none.
func digest(v reflect.Value) string {
	data, err := json.Marshal(v.Interface())
	if err != nil {
		return ""
	}
	hash := fnv.New64a()
	_, _ = hash.Write(data)
	return strconv.FormatUint(hash.Sum64(), 36)
}

// pointed returns what a value points to; the zero Value if that is nothing.
func pointed(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = v.Elem()
	}
	return v
}

// field returns a field of a struct by its name in JSON. Its value is the zero Value where it is in an embedded struct
// that is absent.
func (z *Zeros) field(v reflect.Value, name string) (*field, reflect.Value) {
	f := z.members[name]
	if f == nil || v.Kind() != reflect.Struct {
		return &field{}, reflect.Value{}
	}
	value, err := v.FieldByIndexErr(f.index)
	if err != nil {
		return f, reflect.Value{}
	}
	return f, value
}

// element returns an element of a list; the zero Value if there is none.
func element(v reflect.Value, index string) reflect.Value {
	if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < v.Len() {
		return v.Index(i)
	}
	return reflect.Value{}
}

// keys are the keys of a map by their texts; nil of a map whose keys are texts, and of other values.
type keys map[string]reflect.Value

func keysOf(v reflect.Value) keys {
	if v.Kind() != reflect.Map || v.Type().Key().Kind() == reflect.String {
		return nil
	}
	all := keys{}
	for _, key := range v.MapKeys() {
		all[textOf(key)] = key
	}
	return all
}

// entry returns the key and value of a map at the text of a key; the zero Value if there is none.
func (k keys) entry(v reflect.Value, text string) (key, value reflect.Value) {
	if of := v.Type().Key(); of.Kind() == reflect.String {
		key = reflect.ValueOf(text).Convert(of)
	} else if key = k[text]; !key.IsValid() {
		return key, key
	}
	return key, v.MapIndex(key)
}

// textOf returns the key of a map as encoding/json writes it.
func textOf(key reflect.Value) string {
	if m, ok := key.Interface().(encoding.TextMarshaler); ok && key.Kind() != reflect.String {
		text, _ := m.MarshalText() // a key without text is none that was sent
		return string(text)
	}
	return fmt.Sprint(key.Interface())
}

// isZero reports whether the JSON of a field's value is that of its zero value.
func (f *field) isZero(v reflect.Value) bool {
	switch {
	case v.IsZero():
		return true
	case hasOwnJSON(v.Type()):
		text, err := json.Marshal(v.Interface())
		return err == nil && (string(text) == f.zero || f.zero == "" && string(text) == null)
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Map:
		return v.Len() == 0
	}
	return false
}

// null is the Zero of what was sent as null, in a field that may be.
const null = "null"

var sentNull = &SentZeros{Zero: null}

// absent is the Zero of a struct that isn't there, and of null in a map, which a custom resource doesn't keep.
const absent = "absent"

// unsent is the Zero of a field without omitempty that JSON has, as Go writes its zero value, although nobody sent it.
const unsent = "unsent"

var sentNot = &SentZeros{Zero: unsent}

// sentEmpty stands for a struct with a default of its own that was sent without members.
var sentEmpty = &SentZeros{Zero: "{}"}

// fieldAt calls do with the field at a path, and with what is known of the struct that has it.
func (z *Zeros) fieldAt(path []string, do func(in *Zeros, f *field)) {
	switch {
	case z == nil || len(path) == 0:
	case path[0] == AnyItem:
		z.elem.fieldAt(path[1:], do)
	case z.members[path[0]] == nil:
	case len(path) == 1:
		do(z, z.members[path[0]])
	default:
		z.members[path[0]].below.fieldAt(path[1:], do)
	}
}

// allowNull notes that a field keeps null, or, of a path that ends with [*], that the elements of its list may be null.
func (z *Zeros) allowNull(path []string) {
	of := path
	for of[len(of)-1] == AnyItem {
		of = of[:len(of)-1]
	}
	z.fieldAt(of, func(_ *Zeros, f *field) {
		f.nullable = f.nullable || len(of) == len(path)
		f.nullItems = f.nullItems || len(of) < len(path)
	})
}

// allowAny notes that a field has no schema, or, of a path that ends with [*], that what is inside has none.
func (z *Zeros) allowAny(path []string) {
	last := len(path) - 1
	inside := path[last] == AnyItem
	if inside {
		path = path[:last]
	}
	z.fieldAt(path, func(_ *Zeros, f *field) { f.schemaless, f.untyped = true, f.untyped || !inside })
}

// Nullable reports whether the field at a path keeps null. [3] and [key] in a path stand for elements of lists and
// maps.
func (f *Form) Nullable(path []string) (yes bool) {
	if f == nil || len(path) == 0 {
		return false
	}
	steps := slices.Clone(path)
	for i, step := range steps {
		if step[0] == '[' {
			steps[i] = AnyItem
		}
	}
	f.zeros.fieldAt(steps, func(_ *Zeros, of *field) { yes = of.nullable })
	return yes
}

// WritesZeroStruct reports whether the field at a path is a struct that encoding/json writes although it is zero.
func (f *Form) WritesZeroStruct(path []string) (yes bool) {
	if f != nil {
		f.zeros.fieldAt(path, func(_ *Zeros, of *field) { yes = of.zero == structZero && !of.omitted })
	}
	return yes
}

// keepDefault notes that a member has a default, in JSON, that the JSON of its Go value lacks, or has in another form,
// or that takes the place of a zero value. What is watched inside of a struct is known before.
func (f *field) keepDefault(text string) {
	if f.defaulted {
		return
	}
	f.defaulted = true
	sent, whole, _ := scanner{[]byte(text), true}.field(f, 0)
	if whole != nil && f.omitted {
		sent = whole
	}
	f.defaultValue, f.defaultZero = sent, whole
	f.refilled = sent == nil && whole == nil && f.zero != structZero
}

// watch notes what is known of members that an object lacks. shapes has the shapes of all types.
func (z *Zeros) watch(shapes builder, seen map[*Zeros]bool) {
	if z == nil || seen[z] {
		return
	}
	seen[z] = true
	z.elem.watch(shapes, seen)
	for name, f := range z.members {
		f.below.watch(shapes, seen)
		if !f.omitted {
			f.setFiller(shapes)
		}
		z.watchField(name, f)
	}
}

// watchField notes a field of which something is known where an object lacks it.
func (z *Zeros) watchField(name string, f *field) {
	if f.watched == 0 && (f.filler != nil || f.defaultValue != nil) {
		z.watched = append(z.watched, watched{name, f})
		f.watched = len(z.watched)
	}
}

// setFiller sets the JSON of the zero value that Go writes although nobody sent it.
func (f *field) setFiller(shapes builder) {
	switch kind := f.of.Kind(); {
	case isNil(f.of): // which is left out
	case hasOwnJSON(f.of), kind == reflect.Struct:
		zero, err := json.Marshal(reflect.New(f.of).Interface())
		if err != nil {
			return
		}
		f.filler = shapes[f.of].Omit(zero)
	case f.zero != "":
		f.filler = []byte(f.zero)
	}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(f.filler, &f.fillerValue) // it was made of a value
}

// filling calls do with the struct at a path, in which defaults are set, but not always, and notes it in those above.
func (z *Zeros) filling(path []string, do func(f *field)) {
	if z == nil {
		return
	}
	if path[0] == AnyItem {
		z.elem.filling(path[1:], do)
		z.fills = true
		return
	}
	f := z.members[path[0]]
	if f == nil {
		return
	}
	if len(path) == 1 {
		do(f)
	} else {
		f.below.filling(path[1:], do)
	}
	if !slices.Contains(z.fillable, path[0]) {
		z.fillable = append(z.fillable, path[0])
	}
	z.fills = true
}

// lacking are the structs that an object lacks, and that get no defaults inside, and those that a client sent without
// members, in whose place no default is set.
type lacking struct {
	structs []reflect.Value
	few     [8]reflect.Value // room for most objects
	// entries are those in the values of maps, which have no address.
	entries []lackingEntries
	emptied []emptied
}

// emptied is a struct that a client sent without members, in a field.
type emptied struct {
	value reflect.Value
	of    *field
}

// lackingEntries are what is absent in the values of a map, which of knows.
type lackingEntries struct {
	of     *Zeros
	in     reflect.Value
	absent *SentZeros
}

// reset removes the defaults that were set inside.
func (l *lacking) reset() {
	for _, v := range l.structs {
		v.SetZero()
	}
	for _, e := range l.entries {
		e.of.restore(e.in, e.absent)
	}
	for _, e := range l.emptied {
		e.of.makeEmpty(e.value)
	}
}

// makeEmpty makes a struct what it is where a client has sent {}.
func (f *field) makeEmpty(v reflect.Value) {
	v.SetZero()
	_ = json.Unmarshal([]byte(f.empty), v.Addr().Interface()) // the build has decoded it
}

// collect adds the structs that are zero in a Go value, and were not sent.
func (l *lacking) collect(z *Zeros, v reflect.Value, sent *SentZeros) {
	if z == nil || !z.fills {
		return
	}
	switch v = pointed(v); v.Kind() {
	case reflect.Struct:
		for _, name := range z.fillable {
			f, value := z.field(v, name)
			switch s := sent.At(name); {
			case f.lacks(value, s):
				l.structs = append(l.structs, value)
			case f.wasEmptied(value, s):
				l.emptied = append(l.emptied, emptied{value, f})
			default:
				l.collect(f.below, value, s)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			l.collect(z.elem, v.Index(i), sent.element(i))
		}
	case reflect.Map:
		if absent := z.absentIn(v, sent); absent != nil {
			l.entries = append(l.entries, lackingEntries{z, v, absent})
		}
	}
}

// lacks reports whether a field is a struct that gets no defaults inside, since it is zero, and wasn't sent.
func (f *field) lacks(value reflect.Value, sent *SentZeros) bool {
	known := f.omitted && (sent == nil || sent.Zero == "") || sent != nil && sent.Zero == unsent
	return f.fills && known && value.IsValid() && value.IsZero()
}

// wasEmptied reports whether a field is a struct with a default of its own, which a client sent without members.
func (f *field) wasEmptied(value reflect.Value, sent *SentZeros) bool {
	return f.empty != "" && sent != nil && sent.Zero == "{}" && value.IsValid() && value.IsZero()
}

// absentIn returns by their names what collect would find.
func (z *Zeros) absentIn(v reflect.Value, sent *SentZeros) *SentZeros {
	if v = pointed(v); z == nil || !z.fills || !v.IsValid() {
		return nil
	}
	var found members
	add := func(name string, s *SentZeros) {
		if s != nil {
			found = append(found, Member{name, s})
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, name := range z.fillable {
			f, value := z.field(v, name)
			switch s := sent.At(name); {
			case f.lacks(value, s):
				add(name, &SentZeros{Zero: absent})
			case f.wasEmptied(value, s):
				add(name, sentEmpty)
			default:
				add(name, f.below.absentIn(value, s))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			add(strconv.Itoa(i), z.elem.absentIn(v.Index(i), sent.element(i)))
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			key := textOf(entries.Key())
			add(key, z.elem.absentIn(entries.Value(), sent.At(key)))
		}
	}
	return found.sent("")
}

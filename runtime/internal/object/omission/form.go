package omission

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Form says what the JSON of the objects of a Go type has, in place of what encoding/json writes. An object remembers
// the zero values that a client sent in its selfLink, a field of metadata that Kubernetes no longer has a use for
// (KEP-1164): it is copied with the metadata by each conversion and each copy, and Form keeps it out of JSON. It is
// safe for concurrent use. Nil is the form of encoding/json.
type Form struct {
	of    reflect.Type
	shape *Shape
	zeros *Zeros
	// read are texts that were decoded, each at a place of its own: a write meets the same text several times.
	read [32]atomic.Pointer[readText]
}

// readText is a text, and what it says.
type readText struct {
	text string
	sent *SentZeros
}

// Rules are what a Form knows beside the Go type. In paths, [*] stands for the elements of a list or map.
type Rules struct {
	// IfSent are the paths of optional structs that get no defaults inside where an object lacks them. Nullable are
	// those of fields that keep null, and, with [*] at the end, of lists whose elements may be null.
	IfSent, Nullable []string
	// Schemaless are the paths of values without a schema, in which null is no fault.
	Schemaless []string
	// Defaults has by their paths the JSON of those defaults that Go writes in another form, or leaves out because they
	// are zero, or whose fields Go writes though they are zero.
	Defaults map[string]string
	// Empty has by their paths the structs with a default of their own: the JSON of one that is sent without members.
	Empty map[string]string
}

// FormOf returns the form of a type of objects. It takes some time: callers keep the form.
func FormOf(of reflect.Type, rules Rules) *Form {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	shapes := builder{}
	f := &Form{of: of, shape: shapes.whole(of), zeros: ZerosOf(of)}
	for _, path := range rules.IfSent {
		f.zeros.filling(pathOf(path), func(f *field) { f.fills = true })
	}
	for path, text := range rules.Empty {
		f.zeros.filling(pathOf(path), func(f *field) { f.empty = text })
	}
	for _, path := range rules.Nullable {
		f.zeros.allowNull(pathOf(path))
	}
	for _, path := range rules.Schemaless {
		f.zeros.allowAny(pathOf(path))
	}
	f.keepDefaults(rules.Defaults, shapes)
	return f
}

// keepDefaults notes the defaults of fields. Those of structs come behind all others, and the inner ones before the
// outer: their text lacks the defaults inside.
func (f *Form) keepDefaults(defaults map[string]string, shapes builder) {
	var structs []string
	for path, text := range defaults {
		if strings.HasPrefix(text, "{") {
			structs = append(structs, path)
		} else {
			f.zeros.fieldAt(pathOf(path), func(_ *Zeros, of *field) { of.keepDefault(text) })
		}
	}
	f.zeros.watch(shapes, map[*Zeros]bool{})
	slices.SortFunc(structs, innerFirst)
	for _, path := range structs {
		names := pathOf(path)
		f.zeros.fieldAt(names, func(in *Zeros, of *field) {
			of.keepDefault(defaults[path])
			in.watchField(names[len(names)-1], of)
		})
	}
}

// innerFirst orders paths: the longest are the first.
func innerFirst(a, b string) int {
	return cmp.Or(len(pathOf(b))-len(pathOf(a)), strings.Compare(a, b))
}

// JSON encodes an object.
func (f *Form) JSON(obj any) ([]byte, error) {
	meta, ok := obj.(metav1.Object)
	if f == nil || !ok {
		return json.Marshal(obj)
	}
	link := meta.GetSelfLink()
	if link == "" {
		data, err := json.Marshal(obj)
		return f.shape.Omit(data), err
	}
	meta.SetSelfLink("")
	data, err := json.Marshal(obj)
	meta.SetSelfLink(link)
	if err != nil {
		return nil, err
	}
	return f.zeros.Insert(f.shape.Omit(data), f.remembered(link)), nil
}

// Differs reports whether the JSON of an object may differ from what encoding/json writes.
func (f *Form) Differs(obj metav1.Object) bool {
	return f != nil && (!f.shape.Empty() || obj.GetSelfLink() != "")
}

// Value returns a view of the Go value of an object that has what its JSON has. The view is of v, a value of obj, which
// then forgets the zero values that it remembered.
func (f *Form) Value(obj metav1.Object, v value.Value) value.Value {
	if f == nil {
		return v
	}
	link := obj.GetSelfLink()
	v = f.shape.Value(v)
	if link == "" {
		return v
	}
	obj.SetSelfLink("")
	return f.zeros.value(v, f.remembered(link))
}

// Remembered returns what an object remembers of what a client sent; nil where that is nothing.
func (f *Form) Remembered(obj metav1.Object) *SentZeros {
	if f == nil {
		return nil
	}
	return f.remembered(obj.GetSelfLink())
}

// Complete sets the defaults of an object that was decoded of JSON; data is empty if it was another encoding. The
// object remembers the zero values in its JSON from then on, and defaults don't take their place. A nil Form only sets
// the defaults; no Form remembers the selfLink that a client sent. A nil setDefaults sets none, as in the configuration
// of an apply.
func (f *Form) Complete(obj metav1.Object, data []byte, setDefaults func()) {
	obj.SetSelfLink("")
	complete := setDefaults != nil
	if !complete {
		setDefaults = func() {}
	}
	if f == nil {
		setDefaults()
		return
	}
	sent := f.zeros.In(data, complete)
	f.zeros.restore(reflect.ValueOf(obj), sent) // what is null in a map is no value
	f.complete(obj, sent.present(), setDefaults)
}

// CompleteAgain sets the defaults of an object that code may have changed since it was decoded. They don't take the
// place of the zero values that the object remembers, unless these have other values by now.
func (f *Form) CompleteAgain(obj metav1.Object, setDefaults func()) {
	if f == nil {
		setDefaults()
		return
	}
	f.complete(obj, f.zeros.Held(obj, f.remembered(obj.GetSelfLink())), setDefaults)
}

// complete sets the defaults of an object, and resets what they set in the place of what is absent, or was sent as
// zero.
func (f *Form) complete(obj metav1.Object, sent *SentZeros, setDefaults func()) {
	v := reflect.ValueOf(obj)
	if f.zeros != nil && f.zeros.fills {
		absent := &lacking{}
		absent.structs = absent.few[:0]
		absent.collect(f.zeros, v, sent)
		setDefaults()
		absent.reset()
	} else {
		setDefaults()
	}
	f.zeros.restore(v, sent)
	f.remember(obj, f.zeros.identified(v, sent))
}

// Merge has an object remember what two objects remember: of the fields with these paths what from remembers, and of
// all others what it remembers itself. In a path, [*] stands for the items of a list: spec.containers[*].resources.
func (f *Form) Merge(obj, from metav1.Object, paths ...string) {
	if f == nil || obj.GetSelfLink() == "" && from.GetSelfLink() == "" {
		return
	}
	own, other := f.remembered(obj.GetSelfLink()), f.remembered(from.GetSelfLink())
	for _, path := range paths {
		own = own.replaced(other, pathOf(path))
	}
	f.remember(obj, own)
}

// Forget has an object forget what a client sent of a member, which is zero now.
func (f *Form) Forget(obj metav1.Object, name string) {
	if f == nil {
		return
	}
	var known *SentZeros
	path := pathOf(name)
	f.zeros.fieldAt(path, func(_ *Zeros, of *field) {
		if of.filler != nil {
			known = &SentZeros{Below: []Member{{name, sentNot}}}
		}
	})
	if known != nil || obj.GetSelfLink() != "" {
		f.remember(obj, f.remembered(obj.GetSelfLink()).replaced(known, path))
	}
}

// maxRead is the longest text that is kept once it was decoded.
const maxRead = 4 << 10

func (f *Form) remember(obj metav1.Object, sent *SentZeros) {
	if sent == nil || len(sent.Below) == 0 {
		if obj.GetSelfLink() != "" {
			obj.SetSelfLink("")
		}
		return
	}
	link := string(sent.append(make([]byte, 0, 512)))
	obj.SetSelfLink(link)
	f.keep(link, sent)
}

// remembered returns what an object's selfLink says; nil where it is of another origin.
func (f *Form) remembered(link string) (sent *SentZeros) {
	if link == "" {
		return nil
	}
	if known := f.placeOf(link).Load(); known != nil && known.text == link {
		return known.sent
	}
	if json.Unmarshal([]byte(link), &sent) != nil || !sent.valid() {
		return nil
	}
	f.keep(link, sent)
	return sent
}

func (f *Form) keep(link string, sent *SentZeros) {
	if len(link) <= maxRead {
		f.placeOf(link).Store(&readText{link, sent})
	}
}

// placeOf returns the place of a text. Two texts of one place are decoded more often.
func (f *Form) placeOf(link string) *atomic.Pointer[readText] {
	return &f.read[(len(link)+int(link[len(link)/2])*7+int(link[len(link)*3/4]))%len(f.read)]
}

type key struct{}

// With returns a context with the form of the objects that are validated.
func With(ctx context.Context, f *Form) context.Context { return context.WithValue(ctx, key{}, f) }

// From returns the form that a context has for a type, or nil.
func From(ctx context.Context, t reflect.Type) *Form {
	if f, _ := ctx.Value(key{}).(*Form); f != nil && f.of == t {
		return f
	}
	return nil
}

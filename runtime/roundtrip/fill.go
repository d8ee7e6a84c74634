package roundtrip

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/randfill/bytesource"
)

// awkward are strings that encodings are known to misread.
var awkward = []string{
	"true", "null", "~", "0x10", "1e3", "007", "2001-01-01", "- a", "a: b", "#a", "<&>", `"`, "é世", " a ",
	"a\nb", "no", "=",
}

func (v *Version[V, H]) fill(object runtime.Object, data []byte) {
	source := bytesource.New(data)
	random := rand.New(source)
	bits := []int{7, 15, 31, 63}[random.Intn(4)] // conversions to narrower numbers refuse large ones
	nils := []float64{0.3, 0.5, 0.8}[random.Intn(3)]
	objects := randfill.New().RandSource(source).NilChance(nils).NumElements(1, 2).MaxDepth(16)
	objects.Funcs(
		func(s *string, c randfill.Continue) { *s = word(c) },
		func(n *int, c randfill.Continue) { *n = int(integer(c, min(bits, 31))) },
		func(n *int16, c randfill.Continue) { *n = int16(integer(c, min(bits, 15))) },
		func(n *int32, c randfill.Continue) { *n = int32(integer(c, min(bits, 31))) },
		func(n *int64, c randfill.Continue) { *n = integer(c, bits) },
		func(n *uint, c randfill.Continue) { *n = uint(max(integer(c, min(bits, 31)), 0)) },
		func(n *uint16, c randfill.Continue) { *n = uint16(max(integer(c, min(bits, 15)), 0)) },
		func(n *uint32, c randfill.Continue) { *n = uint32(max(integer(c, min(bits, 31)), 0)) },
		func(n *uint64, c randfill.Continue) { *n = uint64(max(integer(c, bits), 0)) },
		func(m *metav1.TypeMeta, _ randfill.Continue) { *m = metav1.TypeMeta{} },
		fillMeta,
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(int64(c.Intn(100000)), resource.DecimalSI)
			_ = q.String() // the text that a quantity caches is not a difference
		},
		func(r *runtime.RawExtension, c randfill.Continue) { *r = runtime.RawExtension{Raw: document(c)} },
		func(r *json.RawMessage, c randfill.Continue) { *r = document(c) },
		func(f *metav1.FieldsV1, _ randfill.Continue) { *f = *metav1.NewFieldsV1(`{"f:spec":{}}`) },
		func(d *metav1.Duration, c randfill.Continue) { d.Duration = time.Duration(c.Intn(1 << 30)) },
	)
	objects.Funcs(unfillable(reflect.TypeOf(object), map[reflect.Type]bool{})...)
	objects.Funcs(v.choices()...)
	objects.Funcs(v.Fillers...)
	objects.Fill(object)
	v.normalize(reflect.ValueOf(object).Elem(), random)
}

func word(c randfill.Continue) string {
	if c.Intn(4) == 0 {
		return awkward[c.Intn(len(awkward))]
	}
	return fmt.Sprintf("%c%d", 'a'+rune(c.Intn(26)), c.Intn(1000))
}

func integer(c randfill.Continue, bits int) int64 {
	n := int64(c.Uint64() >> (64 - bits))
	if c.Bool() {
		return -n
	}
	return n
}

func document(c randfill.Continue) []byte {
	return fmt.Appendf(nil, `{"a":%q,"n":%d}`, fmt.Sprintf("b%d", c.Intn(100)), c.Intn(100))
}

// fillMeta sets common metadata. It sets no managedFields, which name fields of a version, and which conversions don't
// change.
func fillMeta(m *metav1.ObjectMeta, c randfill.Continue) {
	c.FillNoCustom(m)
	m.ManagedFields = nil
	m.CreationTimestamp.Time = m.CreationTimestamp.Truncate(time.Second)
	for key := range m.Annotations {
		delete(m.Annotations, key)
		m.Annotations["example.com/"+fmt.Sprintf("a%d", c.Intn(100))] = word(c)
	}
	m.UID = types.UID(word(c))
}

// filler returns a function that fills values of a type.
func filler(t reflect.Type, fill func(value reflect.Value, c randfill.Continue)) any {
	signature := reflect.FuncOf([]reflect.Type{reflect.PointerTo(t), reflect.TypeFor[randfill.Continue]()}, nil, false)
	return reflect.MakeFunc(signature, func(args []reflect.Value) []reflect.Value {
		fill(args[0].Elem(), args[1].Interface().(randfill.Continue))
		return nil
	}).Interface()
}

func (v *Version[V, H]) choices() []any {
	var out []any
	for _, values := range v.Values {
		all := reflect.ValueOf(values)
		out = append(out, filler(all.Type().Elem(), func(value reflect.Value, c randfill.Continue) {
			value.Set(all.Index(c.Intn(all.Len())))
		}))
	}
	return out
}

// unfillable returns fillers that leave types within t unset which have no random values, such as interfaces.
func unfillable(t reflect.Type, seen map[reflect.Type]bool) []any {
	if seen[t] {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr, reflect.Complex64,
		reflect.Complex128:
		return []any{filler(t, func(reflect.Value, randfill.Continue) {})}
	}
	var out []any
	for _, part := range partTypes(t) {
		out = append(out, unfillable(part, seen)...)
	}
	return out
}

// normalize replaces values that no client could have sent, since their own JSON can't express them.
func (v *Version[V, H]) normalize(at reflect.Value, random *rand.Rand) {
	if at.Kind() != reflect.Pointer && at.CanAddr() && writesJSON(at) {
		v.normalizeJSON(at, random)
		return
	}
	if at.Kind() == reflect.Struct {
		for i := range at.NumField() {
			if at.Type().Field(i).Tag.Get("json") == "-" && at.Field(i).CanSet() {
				at.Field(i).SetZero()
			}
		}
	}
	parts("", at, func(_ string, part reflect.Value) { v.normalize(part, random) })
	if at.Kind() == reflect.Struct {
		dropUnwritten(at)
	}
	if at.Kind() == reflect.Pointer && at.CanSet() && !at.IsNil() && (isNil(at.Elem()) || writesNull(at.Elem())) {
		at.SetZero() // both are null in JSON
	}
}

// dropUnwritten sets the embedded pointers of a struct to nil that JSON shows nothing of but zero values: the members
// of what they point to are those of the struct, and the JSON of some kinds lacks zero values that nobody sent.
func dropUnwritten(of reflect.Value) {
	for i := range of.NumField() {
		field, known := of.Field(i), of.Type().Field(i)
		name, _, _ := strings.Cut(known.Tag.Get("json"), ",")
		if !known.Anonymous || name != "" || field.Kind() != reflect.Pointer || field.IsNil() || !field.CanSet() {
			continue
		}
		content, err := contentOf(field)
		if zero, zeroErr := contentOf(reflect.New(field.Type().Elem())); err == nil && zeroErr == nil &&
			reflect.DeepEqual(content, zero) {
			field.SetZero()
		}
	}
}

// contentOf returns the JSON of a value without empty objects and lists.
func contentOf(v reflect.Value) (content any, err error) {
	data, err := json.Marshal(v.Interface())
	if err == nil {
		err = json.Unmarshal(data, &content)
	}
	return withoutEmpty(content), err
}

// withoutEmpty returns a value of JSON without empty objects and lists in objects; nil of one that is empty.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if v[name] = withoutEmpty(member); v[name] == nil {
				delete(v, name)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
	}
	return v
}

// writesNull reports whether the JSON that a value writes itself is null.
func writesNull(v reflect.Value) bool {
	if !writesJSON(v) {
		return false
	}
	data, err := json.Marshal(v.Addr().Interface())
	return err == nil && string(data) == "null"
}

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return v.IsNil()
	}
	return false
}

// writesJSON reports whether a value has methods by which encoding/json writes and reads it.
func writesJSON(v reflect.Value) bool {
	at := v.Addr().Interface()
	_, in := at.(json.Unmarshaler)
	_, out := at.(json.Marshaler)
	_, inText := at.(encoding.TextUnmarshaler)
	_, outText := at.(encoding.TextMarshaler)
	return in && out || inText && outText
}

// normalizeJSON replaces a value by the value of its own JSON, or by the zero value where that isn't valid JSON.
func (v *Version[V, H]) normalizeJSON(at reflect.Value, random *rand.Rand) {
	if at.Kind() == reflect.Struct && at.NumField() == 1 {
		if raw := at.FieldByName("Raw"); raw.IsValid() && raw.Type() == reflect.TypeFor[[]byte]() {
			raw.SetBytes(fmt.Appendf(nil, `{"a":%d}`, random.Intn(100)))
		}
	}
	if u, ok := at.Addr().Interface().(*unstructured.Unstructured); ok { // an object must have a kind
		u.Object = map[string]any{"apiVersion": "v1", "kind": "Thing", "a": int64(random.Intn(100))}
	}
	data, err := json.Marshal(at.Addr().Interface())
	decoded := reflect.New(at.Type())
	if err != nil || json.Unmarshal(data, decoded.Interface()) != nil {
		at.SetZero()
		return
	}
	if differ("", at, decoded.Elem()).found() {
		at.Set(decoded.Elem())
	}
}

// prepare empties and fills the fields of an object about which conversions declare a loss.
func (v *Version[V, H]) prepare(object any) {
	walk("", reflect.ValueOf(object), func(_ string, at reflect.Value) {
		if at.Kind() != reflect.Struct {
			return
		}
		for i := range at.NumField() {
			field, name := at.Field(i), Field{at.Type(), at.Type().Field(i).Name}
			switch {
			case !field.CanSet():
			case slices.Contains(v.Dropped, name):
				field.SetZero()
			case slices.Contains(v.NeverNil, name):
				present(field)
			}
		}
	})
}

// present makes a nil pointer point to a zero value, also within a list or a map.
func present(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
	case reflect.Slice, reflect.Array, reflect.Map:
		parts("", v, func(_ string, part reflect.Value) { present(part) })
	}
}

package model

import (
	"cmp"
	"iter"
	"math/big"
	"reflect"
	"slices"
	"strconv"
)

// Pointee follows pointers to what they finally point at. For a type that is a pointer to itself, it returns some
// pointer.
func (t *Type) Pointee() *Type {
	for range 8 { // nobody points at more; type P *P does, forever
		if t == nil || t.Form != Pointer || t.Elem == nil {
			break
		}
		t = t.Elem
	}
	return t
}

// IsString reports whether values of the type are JSON strings by Go's rules.
func (t *Type) IsString() bool {
	t = t.Pointee()
	return t != nil && IsString(t)
}

// IsList reports whether values of the type are JSON lists by Go's rules.
func (t *Type) IsList() bool {
	t = t.Pointee()
	return t != nil && (t.Form == Slice || t.Form == Array)
}

// Layers returns what the type is declared over, the innermost first, and the type itself: what markers say of each
// holds for its values.
func (t *Type) Layers() []*Type {
	if t.Of == nil {
		return []*Type{t}
	}
	return append(t.Of.Layers(), t)
}

// Ambiguous reports whether two fields of a struct have one name on the wire, which is an error: what names a field of
// the struct can't be judged.
func (t *Type) Ambiguous() bool {
	seen := map[string]bool{}
	return t != nil && slices.ContainsFunc(t.Fields, func(f *Field) bool {
		if f.Ignored || f.Inline {
			return false
		}
		twice := seen[f.JSON]
		seen[f.JSON] = true
		return twice
	})
}

// integerBits are the sizes of the types of whole numbers, negative for those without a sign.
var integerBits = map[string]int{
	"int": 64, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "rune": 32,
	"uint": -64, "uint8": -8, "uint16": -16, "uint32": -32, "uint64": -64, "uintptr": -64, "byte": -8,
}

// Bits returns the size of a basic type of whole numbers, negative for one without a sign, and 0 for other types.
func (t *Type) Bits() int {
	if t == nil || t.Form != Basic {
		return 0
	}
	return integerBits[t.Basic]
}

// IsBytes reports whether a type is a slice of bytes, which JSON encodes as a base64 string. JSON encodes arrays of
// bytes as lists of numbers.
func (t *Type) IsBytes() bool { return t.Form == Slice && t.Elem.Bits() == -8 }

// IntegerLimits returns the least and the greatest value of a basic type of whole numbers; ok is false for other types.
func IntegerLimits(basic string) (least, most *big.Int, ok bool) {
	bits := integerBits[basic]
	if bits == 0 {
		return nil, nil, false
	}
	least, most = new(big.Int), big.NewInt(1)
	if bits < 0 {
		most.Lsh(most, uint(-bits))
	} else {
		most.Lsh(most, uint(bits-1))
		least.Neg(most)
	}
	return least, most.Sub(most, big.NewInt(1)), true
}

// Describe names what values of a type are for people: a string, a list.
func (t *Type) Describe() string {
	if t == nil {
		return "of an unknown type"
	}
	switch t.Form {
	case Basic:
		switch {
		case t.Basic == "string":
			return "a string"
		case t.Basic == "bool":
			return "true or false"
		case t.Bits() != 0:
			return "a whole number"
		}
		return "a number"
	case Slice, Array:
		return "a list"
	case Map:
		return "a map"
	case Struct:
		return "a struct"
	}
	return "of another type"
}

// maxInlined bounds how deep inlined structs are searched: a struct may inline a pointer to itself.
const maxInlined = 8

// Property returns the field that JSON calls name, or nil.
func (t *Type) Property(name string) *Field {
	return t.Find(func(f *Field) bool { return f.JSON == name })
}

// Find returns the field of a struct that matches, or nil. It finds what FieldPath ends in.
func (t *Type) Find(matches func(*Field) bool) *Field {
	path := t.FieldPath(matches)
	if path == nil {
		return nil
	}
	return path[len(path)-1]
}

// FieldPath returns the field of a struct that is on the wire and matches, behind the inlined structs that lead to it.
// The struct's own fields win over those of inlined ones. The result is nil if no field matches.
func (t *Type) FieldPath(matches func(*Field) bool) []*Field { return t.fieldPath(matches, 0) }

func (t *Type) fieldPath(matches func(*Field) bool, depth int) []*Field {
	if t = t.Pointee(); t == nil || depth > maxInlined {
		return nil
	}
	for _, f := range t.Fields {
		if !f.Inline && !f.Ignored && matches(f) {
			return []*Field{f}
		}
	}
	for _, f := range t.Fields {
		if f.Inline {
			if inner := f.Type.fieldPath(matches, depth+1); inner != nil {
				return append([]*Field{f}, inner...)
			}
		}
	}
	return nil
}

// WithAnonymous returns the type, and the types without a name that its fields are made of.
func (t *Type) WithAnonymous() iter.Seq[*Type] {
	return func(yield func(*Type) bool) {
		seen := map[*Type]bool{}
		for queue := []*Type{t}; len(queue) > 0; queue = queue[1:] {
			if !yield(queue[0]) {
				return
			}
			for _, f := range queue[0].Fields {
				for inner := f.Type; inner != nil && inner.Name == "" && !seen[inner]; inner = inner.Elem {
					seen[inner] = true
					queue = append(queue, inner)
				}
			}
		}
	}
}

// Is reports whether the type is the named type of that package and name.
func (t *Type) Is(path, name string) bool {
	return t.Package != nil && t.Package.Path == path && t.Name == name
}

// IsObject reports whether the type is a struct with a TypeMeta that is a runtime.Object, or that apigen makes one.
func (t *Type) IsObject() bool {
	typeMeta := func(f *Field) bool { return f.Embedded && f.Name == "TypeMeta" }
	object := func(r Ref) bool { return r.Path == "k8s.io/apimachinery/pkg/runtime" && r.Name == "Object" }
	return t.Form == Struct && slices.ContainsFunc(t.Fields, typeMeta) &&
		(slices.ContainsFunc(t.DeepCopyInterfaces, object) || t.Methods["DeepCopyObject"] != nil)
}

// OpaqueJSON reports whether the output of the type's own MarshalJSON is unknown. apigen assumes that a struct with a
// tag at each field writes those fields, as controller-gen and openapi-gen do. It doesn't assume so for messages of
// protobuf, whose JSON differs from their tags.
func (t *Type) OpaqueJSON() bool {
	if t.Methods["MarshalJSON"] == nil {
		return false
	}
	return t.Form != Struct || t.Methods["ProtoReflect"] != nil || !t.tagged()
}

func (t *Type) tagged() bool {
	for _, f := range t.Fields {
		if _, ok := reflect.StructTag(f.Tag).Lookup("json"); !ok && (f.Exported || f.Embedded) {
			return false
		}
	}
	return len(t.Fields) > 0
}

// IsNamed tells a type by its package and name.
func IsNamed(t *Type, path string, names ...string) bool {
	return t.Package != nil && t.Package.Path == path && slices.Contains(names, t.Name)
}

// IsError reports whether a type is error, or an interface like it.
func IsError(t *Type) bool {
	return t.Package == nil && t.Form == Interface &&
		(t.Name == "error" || len(t.InterfaceMethods) == 1 && t.InterfaceMethods[0] == "Error")
}

// FieldNamed returns the field of that name, or nil.
func FieldNamed(t *Type, name string) *Field {
	return find(t.Fields, func(f *Field) bool { return f.Name == name })
}

func find[T any](list []*T, matches func(*T) bool) *T {
	if i := slices.IndexFunc(list, matches); i >= 0 {
		return list[i]
	}
	return nil
}

// TypeText is the type as a person writes it outside of its package.
func TypeText(t *Type) string { return TextIn(nil, t) }

// TextIn is the type as a person writes it in the package.
func TextIn(in *Package, t *Type) string {
	switch {
	case t.Package != nil && in != nil && t.Package.Path == in.Path:
		return t.Name
	case t.Package != nil:
		return t.Package.Name + "." + t.Name
	}
	switch t.Form {
	case Pointer:
		return "*" + TextIn(in, t.Elem)
	case Slice:
		return "[]" + TextIn(in, t.Elem)
	case Array:
		return "[" + strconv.FormatInt(t.Len, 10) + "]" + TextIn(in, t.Elem)
	case Map:
		return "map[" + TextIn(in, t.Key) + "]" + TextIn(in, t.Elem)
	case Struct:
		return "struct{...}"
	case Interface:
		if len(t.InterfaceMethods) == 0 {
			return cmp.Or(t.Name, "any")
		}
		return cmp.Or(t.Name, "interface{...}")
	case Func_:
		return "func"
	case Chan:
		return "chan"
	}
	return t.BasicName()
}

// BasicName is the name of the predeclared type that the type is based on: byte for uint8, int32 for rune.
func (t *Type) BasicName() string {
	switch t.Basic {
	case "uint8":
		return "byte"
	case "rune":
		return "int32"
	}
	return t.Basic
}

// Counterpart is the field of the other type that the field is: the one that +apigen:conversion:name names, on
// whichever of the two it stands, else that of the same name. Nil if there is none.
func Counterpart(other *Type, f *Field) *Field {
	if f.ConversionName != "" {
		return FieldNamed(other, f.ConversionName)
	}
	if g := find(other.Fields, func(g *Field) bool { return g.ConversionName == f.Name }); g != nil {
		return g
	}
	if g := FieldNamed(other, f.Name); g != nil && g.ConversionName == "" {
		return g
	}
	return nil
}

// IsString reports whether the type itself is one of strings.
func IsString(t *Type) bool { return t.Form == Basic && t.Basic == "string" }

// IsSelector reports whether the type itself can hold a label selector: its text, a LabelSelector, or the labels that
// must be equal, as a ReplicationController has it.
func IsSelector(t *Type) bool {
	return IsString(t) || t.Is("k8s.io/apimachinery/pkg/apis/meta/v1", "LabelSelector") || IsLabels(t)
}

// IsLabels reports whether the type itself is a map of strings by strings.
func IsLabels(t *Type) bool {
	plain := func(t *Type) bool { return IsString(t) && t.Package == nil }
	return t.Form == Map && plain(t.Key) && plain(t.Elem)
}

// IsBool reports whether the type itself is one of booleans.
func IsBool(t *Type) bool { return t.Form == Basic && t.Basic == "bool" }

// IsInteger reports whether the type itself is one of whole numbers.
func IsInteger(t *Type) bool { return t.Bits() != 0 }

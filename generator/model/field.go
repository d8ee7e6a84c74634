package model

import (
	"iter"
	"slices"
)

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
// The struct's own fields win over those of inlined ones. The result is nil where no field matches.
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

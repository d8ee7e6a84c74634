package wiring

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// isDefaultText reports whether a field has a default that Go leaves out of JSON, as it is the zero value, or may write
// in another form, or that takes the place of what Go writes of a field that is always in JSON.
func isDefaultText(f *model.Field) bool {
	def := schema.DefaultOf(f)
	if def == nil || def.JSON == "" || def.Value() == nil {
		return false
	}
	return f.OmitEmpty && f.EffectiveDefault() == nil || !f.OmitEmpty && f.Type.Form != model.Pointer ||
		f.Type.Pointee().DecodesItself()
}

// defaultTexts returns the defaults of such fields, in JSON, by their paths.
func defaultTexts(t *model.Type) []jen.Code {
	var all []jen.Code
	newFieldPaths(func(f *model.Field, path string) {
		if isDefaultText(f) {
			all = append(all, jen.Lit(path).Op(":").Op(gocode.RawLiteral(schema.DefaultOf(f).JSON)))
		}
	}).inside(t, "")
	return all
}

// nullablePaths returns the paths of the fields of a kind in which null is kept, and of lists whose elements may be
// null, as a marker at their type says.
func nullablePaths(t *model.Type) (paths []string) {
	newFieldPaths(func(f *model.Field, path string) {
		if f.Schema.Nullable {
			paths = append(paths, path)
		}
		if of := f.Type.Pointee(); of.Form == model.Slice && of.Elem.Schema.Nullable {
			paths = append(paths, path+"[*]")
		}
	}).inside(t, "")
	return paths
}

// schemalessPaths returns the paths of the values of a kind that have no schema: of fields or, where a marker says the
// type of one, of what is inside.
func schemalessPaths(t *model.Type) (paths []string) {
	newFieldPaths(func(f *model.Field, path string) {
		switch {
		case !f.Schema.Schemaless:
		case f.Schema.Type == "":
			paths = append(paths, path)
		default:
			paths = append(paths, path+"[*]")
		}
	}).inside(t, "")
	return paths
}

// fieldPaths calls found with the fields of a kind and their paths, in which [*] stands for the elements of a list or
// map. A field of a type that stands in several places is found once.
type fieldPaths struct {
	found func(f *model.Field, path string)
	// seen are the types whose fields were found, and around the structs that are being looked at.
	seen, around map[*model.Type]bool
}

func newFieldPaths(found func(f *model.Field, path string)) *fieldPaths {
	return &fieldPaths{found: found, seen: map[*model.Type]bool{}, around: map[*model.Type]bool{}}
}

func (w *fieldPaths) inside(t *model.Type, path string) {
	switch {
	case t == nil || w.seen[t]:
		return
	case t.Form == model.Pointer:
		w.inside(t.Elem, path)
		return
	}
	w.seen[t] = true
	switch t.Form {
	case model.Slice, model.Array, model.Map:
		w.inside(t.Elem, path+"[*]")
	case model.Struct:
		w.around[t] = true
		for _, f := range t.Fields {
			w.field(f, path)
		}
		delete(w.around, t)
	}
}

func (w *fieldPaths) field(f *model.Field, path string) {
	switch {
	case f.Ignored || f.IsMetadata():
		return
	case f.Inline:
		w.inline(f.Type, path)
		return
	}
	path = pathTo(path, f)
	w.found(f, path)
	w.inside(f.Type, path)
}

// inline looks at the fields of a struct that another one has as its own: each such place counts, but for a struct that
// has itself.
func (w *fieldPaths) inline(t *model.Type, path string) {
	t = t.Pointee()
	if w.around[t] {
		return
	}
	known := w.seen[t]
	w.seen[t] = false
	w.inside(t, path)
	w.seen[t] = known
}

// pathTo returns the path of a field in a struct at a path. A dot in its name stands behind a backslash.
func pathTo(path string, f *model.Field) string {
	return strings.TrimPrefix(path+"."+strings.ReplaceAll(f.JSON, ".", `\.`), ".")
}

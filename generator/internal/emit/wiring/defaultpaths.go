package wiring

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/schema"
)

// ifSent returns the paths of the structs of a kind that get defaults inside only if a client sends them. [*] stands
// for the elements of a list or map.
func ifSent(d *plan.Defaults, t *model.Type) (paths []string) {
	eachDefault(d, t, func(f plan.FieldDefault, path string) {
		if f.IfSent {
			paths = append(paths, path)
		}
	})
	return paths
}

// emptyStructs returns the structs of a kind that have a default with members, by their paths: the JSON of one that a
// client sends without members.
func emptyStructs(d *plan.Defaults, t *model.Type) (all []jen.Code) {
	eachDefault(d, t, func(f plan.FieldDefault, path string) {
		def, of := f.Default, f.Field.Type
		if of.Form != model.Struct || def == nil || def.JSON == "" || def.JSON == "{}" || of.DecodesItself() {
			return
		}
		inside := "{" + strings.Join(membersInside(of), ",") + "}"
		all = append(all, jen.Lit(path).Op(":").Op(gocode.RawLiteral(inside)))
	})
	return all
}

// membersInside returns the members that defaults set in a struct, in JSON.
func membersInside(t *model.Type) (members []string) {
	for _, f := range t.Fields {
		def := schema.DefaultOf(f)
		switch {
		case f.Ignored:
		case f.Inline && f.Type.Form == model.Struct:
			members = append(members, membersInside(f.Type)...)
		case def != nil && def.JSON != "":
			members = append(members, strconv.Quote(f.JSON)+":"+def.JSON)
		}
	}
	return members
}

// eachDefault calls found with the fields of a kind that have a default, or in which there is one, and with their
// paths: once for each place of a struct.
func eachDefault(d *plan.Defaults, t *model.Type, found func(f plan.FieldDefault, path string)) {
	if d != nil {
		w := defaultPaths{defaults: d, around: map[*model.Type]bool{}, found: found}
		w.inside(t, "")
	}
}

// defaultPaths walks over the fields with defaults. around are the types that are being looked at: one that holds
// itself begins again.
type defaultPaths struct {
	defaults *plan.Defaults
	around   map[*model.Type]bool
	found    func(f plan.FieldDefault, path string)
}

func (w *defaultPaths) inside(t *model.Type, path string) {
	own := w.defaults.Types[t]
	if own == nil || own.Covers || w.around[t] {
		return
	}
	w.around[t] = true
	switch t.Form {
	case model.Pointer:
		w.inside(t.Elem, path)
	case model.Slice, model.Array, model.Map:
		w.inside(t.Elem, path+"[*]")
	case model.Struct:
		for _, f := range own.Fields {
			at := path
			if !f.Field.Inline {
				at = pathTo(path, f.Field)
			}
			w.found(f, at)
			w.inside(f.Field.Type, at)
		}
	}
	delete(w.around, t)
}

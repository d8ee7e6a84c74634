package conversion

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// guards are declarations that compile only as long as the casts of a file are right: Go itself checks, by its rule
// that types with identical underlying types convert, that each pair has the shape that the generator saw.
type guards struct {
	file *gocode.File
	seen map[string]bool
	// whole are the types whose shape is written down already.
	whole map[string]bool
	lines []jen.Code
}

func (g *guards) add(a, b *model.Type) {
	p := plan.Pair{In: a, Out: b}
	if model.Identical(a, b) || g.seen[p.Key()] || g.seen[p.Reverse().Key()] {
		return
	}
	g.seen[p.Key()] = true
	composite := a.Package == nil && b.Package == nil && a.Form != model.Struct
	if !composite && model.Convertible(a, b) {
		g.check(a, b)
		return
	}
	g.shape(a)
	g.shape(b)
	switch a.Form {
	case model.Struct:
		for i, f := range a.Fields {
			g.add(f.Type, b.Fields[i].Type)
		}
	case model.Map:
		g.add(a.Key, b.Key)
		g.add(a.Elem, b.Elem)
	default:
		g.add(a.Elem, b.Elem)
	}
}

func (g *guards) shape(t *model.Type) {
	if t.Package == nil || g.whole[model.TypeKey(t)] {
		return
	}
	g.whole[model.TypeKey(t)] = true
	underlying := *t
	underlying.Name, underlying.Package = "", nil
	if t.Form == model.Struct {
		underlying.Fields = make([]*model.Field, len(t.Fields))
		for i, f := range t.Fields {
			bare := *f
			bare.Tag = ""
			underlying.Fields[i] = &bare
		}
	}
	g.check(t, &underlying)
}

// check compiles where Go converts pointers to the one type to pointers to the other.
func (g *guards) check(from, to *model.Type) {
	target := g.file.Type(to)
	g.lines = append(g.lines, g.file.Code("_ = (*$)((*$)(nil))", target, g.file.Type(from)))
}

func (w *writer) guards() {
	g := &guards{file: w.file, seen: map[string]bool{}, whole: map[string]bool{}}
	for _, p := range w.plan.Casts {
		g.add(p.In, p.Out)
	}
	if len(g.lines) > 0 {
		w.file.Add("The conversions above take values of some types for values of others as they lie in memory. "+
			"These lines don't\n"+
			"compile once one of those types has changed: generate again.", jen.Var().Defs(g.lines...))
	}
}

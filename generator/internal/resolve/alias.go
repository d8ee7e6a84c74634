package resolve

import (
	"cmp"
	"go/types"
	"slices"

	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/marker"
)

// An alias is another name for a type, and a value doesn't tell by which name its type was written. A field does: what
// markers and the comment of an alias say of values holds for the fields of that type, as if it stood above them.

// throughAliases visits the aliases that a type is written with, through pointers, each before the one that it names.
func throughAliases(t types.Type, visit func(*types.Alias)) {
	for {
		switch at := t.(type) {
		case *types.Alias:
			visit(at)
			t = at.Rhs()
		case *types.Pointer:
			t = at.Elem()
		default:
			return
		}
	}
}

// aliases returns the markers of the aliases that a type is written with, and the first comment of those that name a
// type without a comment. The markers of an alias stand behind those of the alias that it names.
func (b *typeBuilder) aliases(t types.Type) (ms marker.Markers, doc string) {
	throughAliases(t, func(a *types.Alias) {
		ms = append(b.ofValues(a), ms...)
		if _, named := types.Unalias(a).(*types.Named); !named {
			doc = cmp.Or(doc, b.commentOf(a.Obj()).Doc)
		}
	})
	return ms, doc
}

// ofValues returns the markers of an alias that say something of values, but for those that the named type has, too.
func (b *typeBuilder) ofValues(of *types.Alias) (out marker.Markers) {
	var known marker.Markers
	if n, ok := types.Unalias(of).(*types.Named); ok && n.Obj().Pkg() != nil {
		known = b.commentOf(n.Obj()).Markers
	}
	for _, m := range b.commentOf(of.Obj()).Markers {
		same := func(other marker.Marker) bool { return other.Text == m.Text }
		if m.OfValues() && !slices.ContainsFunc(known, same) {
			out = append(out, m)
		}
	}
	return out
}

var noComment load.Comment

func (b *typeBuilder) commentOf(o *types.TypeName) *load.Comment {
	if o.Pkg() == nil { // any, byte, rune
		return &noComment
	}
	return b.u.Comments(o.Pkg(), o.Pos()).Of(o.Pos(), o.Name())
}

// lostBelow reports markers of aliases that elements and keys of a type are written with.
func (b *typeBuilder) lostBelow(t types.Type) {
	switch t := t.(type) {
	case *types.Map:
		b.lostAliases(t.Key(), "a key")
		b.lostAliases(t.Elem(), "an element")
	case *types.Slice:
		b.lostAliases(t.Elem(), "an element")
	case *types.Array:
		b.lostAliases(t.Elem(), "an element")
	}
}

// lostAliases reports markers of the aliases that a type is written with where no field has them: of elements and keys,
// and of embedded structs, whose members are the outer struct's.
func (b *typeBuilder) lostAliases(t types.Type, place string) {
	throughAliases(t, func(a *types.Alias) {
		if ms := b.ofValues(a); len(ms) > 0 {
			b.fault(b.pkg(a.Obj().Pkg()), ms[0].Pos, "marker \"+%s\" of the alias %s has no effect on %s, only on "+
				"fields: declare a type of its own, without the sign =", ms[0].Name, a.Obj().Name(), place)
		}
	})
}

package conversion

import (
	"fmt"

	"apigen.dev/generator/model"
)

type problemKind uint8

const (
	// inconvertible: there is no rule for the pair of types.
	inconvertible problemKind = iota
	// missing: the other type has no such field.
	missing
	// hidden: the field can't be reached from the package that the function is written in.
	hidden
)

// problem is why a field can't be converted.
type problem struct {
	kind problemKind
	// comment says it shortly, in the emitted code.
	comment string
	// pair is the innermost pair of types without a rule.
	pair  pair
	pos   model.Position
	field string
}

// at gives the problem the field's place, unless a field further in had given its own.
func (x problem) at(f *model.Field) problem {
	if x.field == "" {
		x.pos, x.field = f.Pos, f.Name
	} else {
		x.field = f.Name + "." + x.field
	}
	return x
}

func noRule(p pair, pkg *model.Package) []problem {
	return []problem{{
		kind:    inconvertible,
		pair:    p,
		comment: "inconvertible types (" + text(p.in, pkg) + " vs " + text(p.out, pkg) + ")",
	}}
}

// message says what would be lost, and what to write.
func (b *build) message(p pair, x problem) string {
	in, out := text(p.in, nil), text(p.out, nil)
	var what string
	switch x.kind {
	case missing:
		what = fmt.Sprintf("field %s of %s is lost in the conversion to %s, which has no such field", x.field, in, out)
	case hidden:
		what = fmt.Sprintf("field %s of %s can't be converted to %s: it is not exported", x.field, in, out)
	default:
		what = fmt.Sprintf("field %s of %s can't be converted to %s: there is no rule from %s to %s",
			x.field, in, out, text(x.pair.in, nil), text(x.pair.out, nil))
	}
	return what + ": " + b.remedy(p, x)
}

func (b *build) remedy(p pair, x problem) string {
	s := fmt.Sprintf("write %s in package %s", p.signature(b.pkg), b.pkg.Path)
	if x.kind == inconvertible && b.writable(x.pair) {
		s = fmt.Sprintf("write %s for these two types, or %s for the whole, in package %s",
			x.pair.signature(b.pkg), p.signature(b.pkg), b.pkg.Path)
	}
	if p.in.Package != nil && (p.in.Package.Module == nil || p.in.Package.Module.Own) {
		s += ", or mark the field with +apigen:conversion:drop"
	}
	for _, name := range []string{p.function(), x.functionName()} {
		if fn := b.funcs.misnamed[name]; fn != nil {
			s += fmt.Sprintf(" (the %s at %s has another signature)", name, fn.Pos)
			break
		}
	}
	return s
}

// writable tells whether a function for just the pair can be written, and is worth it: for two predeclared types it would
// be called everywhere.
func (b *build) writable(p pair) bool {
	return b.nameable(p.in) && b.nameable(p.out) && (p.in.Package != nil || p.out.Package != nil)
}

func (x problem) functionName() string {
	if x.pair.in == nil {
		return ""
	}
	return x.pair.function()
}

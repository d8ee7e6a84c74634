package conversion

import (
	"fmt"
	"strings"

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
	// unknownName: +apigen:conversion:name names no field of the other type.
	unknownName
	// taken: another field leads to the same one.
	taken
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
	// preserve: it is marked so.
	preserve bool
	// peer is the field that is taken, other the one that took it.
	peer, other string
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
	case unknownName:
		return fmt.Sprintf("field %s of %s is marked +apigen:conversion:name, and %s has no field of that name: its fields are %s",
			x.field, in, out, strings.Join(fieldNames(p.out), ", "))
	case taken:
		return fmt.Sprintf("fields %s and %s of %s would both become field %s of %s: one of them needs another +apigen:conversion:name, or +apigen:conversion:drop",
			x.other, x.field, in, x.peer, out)
	case missing:
		if x.preserve {
			return fmt.Sprintf("field %s of %s is marked +apigen:conversion:preserve, which works for fields that a kind of %s and its counterpart lead to under the same names; others are lost in the conversion to %s: %s",
				x.field, in, b.types.Path, out, "add the field there, or write "+p.signature(b.pkg)+" in package "+b.pkg.Path)
		}
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
		if x.kind == missing {
			s += " or +apigen:conversion:preserve"
			if b.spokes(p.in) {
				s += ", or name its counterpart with +apigen:conversion:name"
			}
		}
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

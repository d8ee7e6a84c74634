package plan

import (
	"fmt"
	"strings"

	"apigen.dev/generator/internal/model"
)

// Problem is why a field can't be converted.
type Problem struct {
	// Field is the field's name, or the path to it through structs without names.
	Field string
	fate  Fate
	// rule is the innermost pair of types without a rule; it is nil for other problems.
	rule *Pair
	// move is that of the field.
	move *FieldMove
	pos  model.Position
}

func problemsOf(fields []*FieldMove) []Problem {
	var out []Problem
	for _, f := range fields {
		for _, x := range f.problems() {
			if x.Field == "" {
				x.pos, x.Field, x.move = f.Field.Pos, f.Field.Name, f
			} else { // a field further in has given its own place
				x.Field = f.Field.Name + "." + x.Field
			}
			out = append(out, x)
		}
	}
	return out
}

func (f *FieldMove) problems() []Problem {
	switch f.Fate {
	case Dropped, Carried, Pruned:
		return nil
	case Moved:
		return f.Move.problems()
	case LeftToHand:
		return noRule(Pair{f.Field.Type, f.To.Type})
	}
	return []Problem{{fate: f.Fate}}
}

func noRule(p Pair) []Problem { return []Problem{{rule: &p}} }

func (m *Move) problems() []Problem {
	switch m.Kind {
	case NoRule:
		return noRule(m.Pair)
	case Pointer, Slice, Array:
		return m.Elem.problems()
	case Map:
		if m.Keys != nil {
			return noRule(*m.Keys)
		}
		return m.Elem.problems()
	case FromPointer, ToPointer:
		problems := m.Elem.problems()
		if len(problems) == 0 || problems[0].Field != "" {
			return problems
		}
		return noRule(m.Pair) // the whole pair, unless something is known of a field further in
	case InPlace:
		return problemsOf(m.Conversion.Fields)
	}
	return nil
}

// Fails reports whether something that the move converts has no rule.
func (m *Move) Fails() bool { return len(m.problems()) > 0 }

// Comment says shortly, in code of the package, why the field isn't converted.
func (x Problem) Comment(pkg *model.Package) string {
	switch {
	case x.rule != nil:
		return "inconvertible types (" + model.TextIn(pkg, x.rule.In) + " vs " + model.TextIn(pkg, x.rule.Out) + ")"
	case x.fate == UnknownName:
		return "is renamed to what peer-type doesn't have"
	case x.fate == Missing:
		return "does not exist in peer-type"
	case x.fate == Taken:
		return "becomes " + x.move.To.Name + ", as " + x.move.Other.Name + " does"
	}
	return "is not exported"
}

// ofMarker says what is wrong with a marker that names a counterpart; it is empty for other problems.
func (x Problem) ofMarker(p Pair) string {
	in, out := p.texts(nil)
	switch x.fate {
	case UnknownName:
		var names []string
		for _, f := range p.Out.Fields {
			if f.Exported {
				names = append(names, f.Name)
			}
		}
		return fmt.Sprintf("field %s of %s is marked +apigen:conversion:name, and %s has no field of that name: its "+
			"fields are %s", x.Field, in, out, strings.Join(names, ", "))
	case Taken:
		return fmt.Sprintf("fields %s and %s of %s would both become field %s of %s: one of them needs another "+
			"+apigen:conversion:name, or +apigen:conversion:drop", x.move.Other.Name, x.Field, in, x.move.To.Name, out)
	}
	return ""
}

// lost: the other type has no such field.
func (x Problem) lost() bool { return x.rule == nil && x.fate == Missing }

// preserved: a marker asks for an annotation to carry the field, and none can.
func (x Problem) preserved() bool { return x.lost() && x.move.Field.Preserve }

// writable reports whether a function for just the pair can be written, and is worth it: for two predeclared types it
// would be called everywhere.
func (t *planner) writable(p Pair) bool {
	return t.nameable(p.In) && t.nameable(p.Out) && (p.In.Package != nil || p.Out.Package != nil)
}

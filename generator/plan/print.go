package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan/serving"
)

// Print writes what is decided, for people: a line for each decision, indented below what it is about.
func (p *Plan) Print(w io.Writer) {
	t := &printer{w: w}
	for _, pkg := range p.Packages {
		t.line(0, "package %s%s", pkg.Path, when(!p.Writes(pkg), " (nothing is written)"))
		t.registration(p.Registrations[pkg])
		t.defaults(p.Defaults[pkg])
		t.conversions(p.ConversionsOf(pkg))
	}
	for _, s := range p.ClientSets {
		t.line(0, "clients in %s", s.Path)
		for _, v := range s.Versions() {
			for _, k := range v.Kinds {
				t.line(1, "%s %s: %s", v.GroupVersion(), k.Name(), k.Generic())
			}
		}
	}
	for _, g := range p.Wired() {
		t.line(0, "group %q, wired in %s%s", g.Name, g.Wiring.Path, when(p.Scoped[g], ", with a conversion.Scope"))
		for _, r := range g.Resources {
			t.resource(p, r)
		}
	}
}

type printer struct{ w io.Writer }

func (t *printer) line(depth int, format string, args ...any) {
	fmt.Fprintf(t.w, strings.Repeat("\t", depth)+format+"\n", args...)
}

// when is the text where the condition holds, and nothing else.
func when(condition bool, text string) string {
	if condition {
		return text
	}
	return ""
}

func names(types []*model.Type) string {
	var out []string
	for _, t := range types {
		out = append(out, t.Name)
	}
	return strings.Join(out, ", ")
}

func (t *printer) registration(r *Registration) {
	switch {
	case r.Generated:
		t.line(1, "registration: generated, for %s", names(r.Types))
		t.line(2, "%s.Register(%s)", r.Builder, strings.Join(r.Initial, ", "))
	case r.Function != "":
		t.line(1, "registration: %s by hand%s", r.Function, when(r.Builder != "", ", with "+r.Builder))
	case r.Other != nil:
		t.line(1, "registration: %s by hand, which generated code can't call", r.Other.Name)
	}
}

func (t *printer) defaults(d *Defaults) {
	if len(d.Objects) == 0 && !d.Registers {
		return
	}
	t.line(1, "defaults%s", when(d.Generated, ", with RegisterDefaults"))
	for _, o := range d.Objects {
		t.line(2, "%s", ObjectDefaulter(o))
	}
	var types []*model.Type
	for typ := range d.Types {
		if typ.Package != nil {
			types = append(types, typ)
		}
	}
	slices.SortFunc(types, func(a, b *model.Type) int { return strings.Compare(TypeKey(a), TypeKey(b)) })
	for _, typ := range types {
		x := d.Types[typ]
		t.line(2, "%s%s", Text(typ, d.Package), when(x.ContainsItself, ", which may contain itself"))
		for _, f := range x.Calls {
			t.line(3, "calls %s%s", f.Name, when(x.Covers, ", for all that is inside"))
		}
		for _, f := range x.Fields {
			if f.Default != nil {
				t.line(3, "%s = %s", f.Field.Name, f.Default.JSON)
			}
		}
		if x.Element != nil {
			t.line(3, "elements = %s", x.Element.JSON)
		}
	}
}

func (t *printer) conversions(c *Conversions) {
	if c == nil || c.Empty() {
		return
	}
	t.line(1, "conversions")
	for _, f := range c.Functions {
		t.line(2, "%s%s%s", f.Name, when(f.ByHand, ", by hand"), when(f.Method != "", ", by the method "+f.Method))
		if f.Method != "" {
			continue
		}
		if f.Cast {
			t.line(3, "the value as it lies in memory")
			continue
		}
		t.fields(3, f.Fields)
		for _, x := range f.Carriers {
			t.carrier(x)
		}
	}
	for _, q := range c.FromQuery {
		t.line(2, "%s", q.Pair.Function())
		for _, x := range q.Parameters {
			t.line(3, "%s -> %s.%s: %s", x.Field.JSON, x.Path, x.Field.Name, x.Move)
		}
	}
	for _, fn := range c.ByHand {
		t.line(2, "registers %s", fn.Name)
	}
	for _, fault := range c.Faults {
		t.line(2, "fault: %s", fault.Message)
	}
}

func (t *printer) fields(depth int, fields []*FieldMove) {
	for _, f := range fields {
		if f.Fate != Moved {
			t.line(depth, "%s: %s", f.Field.Name, f.Fate)
			continue
		}
		t.line(depth, "%s -> %s: %s", f.Field.Name, f.To.Name, f.Move)
		for m := f.Move; m != nil; m = m.Elem {
			if m.Kind == InPlace {
				t.fields(depth+1, m.Fields)
			}
		}
	}
}

func (t *printer) carrier(c *Carrier) {
	var fields []string
	for _, f := range c.Fields {
		fields = append(fields, f.Name)
	}
	t.line(3, "%s %s: %s", map[bool]string{true: "restores from", false: "preserves in"}[c.Fills()], c.Annotation(),
		strings.Join(fields, ", "))
}

// String says how the value is converted, from the outside in: slice of convert by Convert_v1_Part_To_shop_Part.
func (m *Move) String() string {
	switch m.Kind {
	case Call:
		return "call " + m.By.Name + when(m.By.Drop, ", which drops it")
	case CallConversion:
		return m.Pair.Function() + when(m.Home != nil, " of another package")
	case Cast:
		return "cast to " + Text(m.Out, nil)
	case Number:
		return Text(m.Out, nil) + " of " + Text(m.In, nil) + when(m.Checked, ", checked")
	}
	if m.Elem != nil {
		return m.Kind.String() + ": " + m.Elem.String()
	}
	return m.Kind.String()
}

func (t *printer) resource(p *Plan, r *model.Resource) {
	t.line(1, "%s: hub %s%s", r.Plural, Text(r.Hub, nil), when(r.WithoutStorage(), ", without storage"))
	for _, h := range p.Hooks[r] {
		t.line(2, "%s: %s %s", h.Name, map[bool]string{true: "function", false: "method"}[h.Function], h.Func.Name)
	}
	t.serving(p.Serving[r])
	for _, v := range r.Served() {
		t.line(2, "%s", v.Version.Name)
		for _, c := range p.Columns[v.Type] {
			t.line(3, "column %q: %s", c.Name, c.Cell)
		}
		if f, ok := p.Defaulters[v.Type]; ok {
			t.line(3, "default: %s", f)
		}
		if f, ok := p.Checks.Markers[v.Type]; ok {
			t.line(3, "validate: %s", f)
		}
		if name := p.Checks.CEL[v.Type]; name != "" {
			t.line(3, "rules in CEL: %s", name)
		}
		if v.Type == r.Hub {
			continue
		}
		pair := Pair{v.Type, r.Hub}
		for _, x := range []Pair{pair, pair.Reverse()} {
			if f, ok := p.Converters[x]; ok {
				t.line(3, "convert: %s", f)
			} else {
				t.line(3, "nothing converts %s to %s", Text(x.In, nil), Text(x.Out, nil))
			}
		}
		for _, f := range p.RoundTrips[pair].Dropped {
			t.line(3, "drops: %s.%s", Text(f.Owner, nil), f.Name)
		}
	}
}

func (t *printer) serving(s *serving.Serving) {
	for _, f := range s.Selectable {
		t.line(2, "selectable %s: %s", f.Path, serving.GoPath(f.Steps))
	}
	if c := s.Scale; c != nil {
		t.line(2, "scale: %s%s%s", serving.GoPath(c.Spec), when(c.Status != nil, ", status "+serving.GoPath(c.Status)),
			when(c.Selector != nil, ", selector "+serving.GoPath(c.Selector)))
	}
	for _, fault := range s.Faults {
		t.line(2, "fault: %s", fault.Message)
	}
}

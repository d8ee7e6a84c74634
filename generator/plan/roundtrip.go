package plan

import (
	"apigen.dev/generator/model"
)

// RoundTrip is what conversions of a kind to the hub and back lose by design, so that tests don't expect it.
type RoundTrip struct {
	// Dropped are fields that markers drop, NeverNil pointers that the other side holds as values.
	Dropped, NeverNil []StructField
}

// StructField is a field of a struct that has a name.
type StructField struct {
	Owner *model.Type
	Name  string
}

// roundTripOf follows the conversion of a kind to the hub.
func roundTripOf(c *Conversion) *RoundTrip {
	r := &roundTrip{RoundTrip: &RoundTrip{}, seen: map[Pair]bool{}, known: map[StructField]bool{}}
	r.conversion(c)
	return r.RoundTrip
}

// roundTrip is a RoundTrip in the making.
type roundTrip struct {
	*RoundTrip
	seen  map[Pair]bool
	known map[StructField]bool
}

func (r *roundTrip) conversion(c *Conversion) {
	if r.seen[c.Pair] {
		return
	}
	r.seen[c.Pair] = true
	r.fields(c.Pair, c.Fields)
}

func (r *roundTrip) fields(p Pair, fields []*FieldMove) {
	r.drops(p.In)
	for _, f := range fields {
		if f.To == nil {
			continue
		}
		if here, there := pointers(f.Field.Type, f.To.Type); here {
			r.add(&r.NeverNil, p.In, f.Field)
		} else if there {
			r.add(&r.NeverNil, p.Out, f.To)
		}
		r.move(f.Move)
	}
	r.drops(p.Out)
}

func (r *roundTrip) move(m *Move) {
	if m.Instead != nil {
		m = m.Instead
	}
	switch {
	case m.Conversion != nil:
		r.conversion(m.Conversion)
	case m.Fields != nil:
		r.fields(m.Pair, m.Fields)
	case m.Elem != nil:
		r.move(m.Elem)
	}
}

// pointers tells which of two types is a pointer where the other one is a value: they themselves, or what the lists or
// maps that they are hold.
func pointers(a, b *model.Type) (here, there bool) {
	for range 8 { // a type may be a list of itself
		switch {
		case a == nil || b == nil:
			return false, false
		case (a.Form == model.Pointer) != (b.Form == model.Pointer):
			return a.Form == model.Pointer, b.Form == model.Pointer
		case a.Form != model.Slice && a.Form != model.Array && a.Form != model.Map:
			return false, false
		}
		a, b = a.Elem, b.Elem
	}
	return false, false
}

func (r *roundTrip) drops(t *model.Type) {
	for _, f := range t.Fields {
		if f.ConversionOff {
			r.add(&r.Dropped, t, f)
		}
	}
}

func (r *roundTrip) add(to *[]StructField, owner *model.Type, f *model.Field) {
	key := StructField{owner, f.Name}
	if owner.Package == nil || len(owner.TypeArgs) > 0 || !f.Exported || r.known[key] {
		return
	}
	r.known[key] = true
	*to = append(*to, key)
}

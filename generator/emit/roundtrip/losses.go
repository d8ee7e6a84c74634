package roundtrip

import (
	"sort"
	"strings"

	"apigen.dev/generator/emit/conversion"
	"apigen.dev/generator/model"
)

// field is a field of a struct that the test's package can name.
type field struct {
	owner *model.Type
	name  string
}

// losses are what conversions between two types lose by design.
type losses struct {
	// dropped are fields that markers drop, neverNil pointers that the other side holds as values.
	dropped, neverNil []field
	seen              map[[2]*model.Type]bool
	known             map[field]bool
}

func lossesOf(version, hub *model.Type) *losses {
	l := &losses{seen: map[[2]*model.Type]bool{}, known: map[field]bool{}}
	l.pair(version, hub)
	return l
}

// pair walks two types side by side.
func (l *losses) pair(a, b *model.Type) {
	if a == nil || b == nil || a == b || l.seen[[2]*model.Type{a, b}] {
		return
	}
	l.seen[[2]*model.Type{a, b}] = true
	switch {
	case a.Form == model.Struct && b.Form == model.Struct:
		l.fields(a, b)
		l.drops(b)
	case a.Form == model.Pointer && b.Form != model.Pointer:
		l.pair(a.Elem, b)
	case b.Form == model.Pointer && a.Form != model.Pointer:
		l.pair(a, b.Elem)
	default:
		l.pair(a.Elem, b.Elem)
	}
}

func (l *losses) fields(a, b *model.Type) {
	l.drops(a)
	for _, f := range a.Fields {
		g := conversion.Counterpart(b, f)
		if g == nil {
			continue
		}
		if here, there := pointers(f.Type, g.Type); here {
			l.add(&l.neverNil, a, f)
		} else if there {
			l.add(&l.neverNil, b, g)
		}
		l.pair(f.Type, g.Type)
	}
}

// pointers tells which of two types is a pointer where the other one is a value: they themselves, or what the lists or maps that
// they are hold.
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

func (l *losses) drops(t *model.Type) {
	for _, f := range t.Fields {
		if f.ConversionOff {
			l.add(&l.dropped, t, f)
		}
	}
}

func (l *losses) add(to *[]field, owner *model.Type, f *model.Field) {
	key := field{owner, f.Name}
	if owner.Package == nil || len(owner.TypeArgs) > 0 || !f.Exported || l.known[key] {
		return
	}
	l.known[key] = true
	*to = append(*to, key)
}

// named are the types with constants that the types lead to, by package and name.
func named(types []*model.Type) []*model.Type {
	seen := map[*model.Type]bool{}
	var out []*model.Type
	var visit func(t *model.Type)
	visit = func(t *model.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		if t.Form == model.Basic && t.Package != nil {
			out = append(out, t)
		}
		visit(t.Elem)
		visit(t.Key)
		for _, f := range t.Fields {
			if !f.Ignored {
				visit(f.Type)
			}
		}
	}
	for _, t := range types {
		visit(t)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Package.Path != out[j].Package.Path {
			return out[i].Package.Path < out[j].Package.Path
		}
		return out[i].Name < out[j].Name
	})
	return out
}

func constants(t *model.Type) []*model.Const {
	var out []*model.Const
	for _, c := range t.Package.Consts {
		if c.Type == t && !c.Excluded && exported(c.Name) {
			out = append(out, c)
		}
	}
	return out
}

func exported(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// reachable tells whether code of the package at path may name the type.
func reachable(t *model.Type, path string) bool {
	if !exported(t.Name) {
		return false
	}
	parent, _, internal := strings.Cut(t.Package.Path+"/", "/internal/")
	return !internal || strings.HasPrefix(path+"/", parent+"/")
}

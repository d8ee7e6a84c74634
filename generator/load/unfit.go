package load

import (
	"maps"
	"slices"

	"apigen.dev/generator/model"
)

// unfitDefaults reports defaults that no value of their types can be, wherever a type comes from, and leaves them out of the
// model: so no product has what another can't.
func (b *builder) unfitDefaults() {
	for _, key := range slices.Sorted(maps.Keys(b.named)) {
		t := b.named[key]
		t.Default = b.fitting(t.Default, t, t.Package)
		b.unfitFields(t, t.Package, map[*model.Type]bool{})
	}
}

// unfitFields does it for the fields of a struct, and of those without a name in it.
func (b *builder) unfitFields(t *model.Type, p *model.Package, seen map[*model.Type]bool) {
	for _, f := range t.Fields {
		f.Default = b.fitting(f.Default, f.Type, p)
		for inner := f.Type; inner != nil && inner.Name == "" && !seen[inner]; inner = inner.Elem {
			seen[inner] = true
			b.unfitFields(inner, p, seen)
		}
	}
}

// fitting is the default, or nil where it doesn't fit the type. Of a type parameter nothing is known.
func (b *builder) fitting(d *model.Default, t *model.Type, p *model.Package) *model.Default {
	if d == nil || t.Pointee().Form == model.TypeParam {
		return d
	}
	err := d.Unfit(t)
	if err == nil {
		return d
	}
	if b.reportOf(p) == nil {
		b.warnings.Add(d.Pos, "%v", err) // of a dependency, which nobody here can mend
	} else {
		b.fault(p, d.Pos, "%v", err)
	}
	return nil
}

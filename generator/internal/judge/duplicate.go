package judge

import (
	"cmp"
	"maps"
	"reflect"
	"strings"

	"apigen.dev/generator/internal/model"
)

// promoted is a field that encoding/json finds in a struct, through the structs that it embeds.
type promoted struct {
	field *model.Field
	// by is the struct's own field that leads there, and owner the type that declares the field.
	by     *model.Field
	owner  *model.Type
	tagged bool
}

// duplicates reports names on the wire that a struct has from two embedded structs: encoding/json leaves out both
// fields.
func (r *checker) duplicates(t *model.Type) {
	if t.Form != model.Struct || t.Package == nil || t.Package.HasGroup &&
		t.Package.Version == "" { // internal types are not on the wire
		return
	}
	taken := map[string]promoted{}
	for level, seen := promotedIn(t, nil), map[*model.Type]bool{t: true}; len(level) > 0; {
		byName := map[string]promoted{}
		var next []promoted
		var entered []*model.Type
		for _, x := range level {
			switch {
			case x.field.Ignored:
			case x.field.Inline:
				if inner := x.field.Type.Pointee(); inner != nil && !seen[inner] {
					next, entered = append(next, promotedIn(inner, x.by)...), append(entered, inner)
				}
			case taken[x.field.JSON].field != nil:
				r.hidden(t, taken[x.field.JSON], x)
			default:
				r.duplicate(t, byName, x)
			}
		}
		maps.Copy(taken, byName)
		for _, inner := range entered { // only now: a struct that is embedded twice has each of its names twice
			seen[inner] = true
		}
		level = next
	}
}

// duplicate notes a field under its name, and reports it where another of the level has that name.
func (r *checker) duplicate(t *model.Type, byName map[string]promoted, x promoted) {
	name := x.field.JSON
	other, met := byName[name]
	switch {
	case !met || x.tagged && !other.tagged:
		byName[name] = x
	case x.by != other.by && x.tagged == other.tagged && x.field != x.by: // fieldNames reports two of its own
		r.faultf(x.by.Pos, "%s gets the name %q on the wire twice, by %s.%s and %s.%s: encoding/json would leave "+
			"out both; rename one of them, or give %s a field of that name",
			t.Name, name, other.owner.Name, other.field.Name, x.owner.Name, x.field.Name, t.Name)
	}
}

// hidden reports a promoted field that another field of that name hides: the server would check its rules on a value
// that is never there. Where both are promoted, readers easily mistake one for the other.
func (r *checker) hidden(t *model.Type, by, x promoted) {
	if by.field == by.by && len(r.of(&x.field.Schema).Rules) == 0 {
		return
	}
	r.faultf(x.by.Pos, "%s.%s is never on the wire in %s, where %s.%s has the name %q: rename one of them, or take "+
		"the rules from the hidden one and let %s itself declare the other",
		x.owner.Name, x.field.Name, t.Name, by.owner.Name, by.field.Name, x.field.JSON, t.Name)
}

// promotedIn returns the fields of a struct that the field by leads to, or of the outermost struct where by is nil.
func promotedIn(t *model.Type, by *model.Field) []promoted {
	var out []promoted
	for _, f := range t.Fields {
		out = append(out, promoted{field: f, by: cmp.Or(by, f), owner: t, tagged: tagged(f)})
	}
	return out
}

func tagged(f *model.Field) bool {
	tag, _ := reflect.StructTag(f.Tag).Lookup("json")
	name, _, _ := strings.Cut(tag, ",")
	return name != ""
}

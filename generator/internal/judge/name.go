package judge

import (
	"reflect"
	"regexp"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/spelling"
)

func (r *checker) names(p *model.Package) {
	for _, t := range p.Types {
		if t.Kind != nil && p.Version != "" {
			r.envelope(t)
		}
		if t.Of == nil || t.Of.Package == p { // of another package's struct, its fields have the names
			for part := range t.WithAnonymous() {
				r.fieldNames(part)
			}
		}
	}
}

// fieldNames reports names on the wire that two fields of a struct have, and tags that can't be read.
func (r *checker) fieldNames(t *model.Type) {
	seen := map[string]*model.Field{}
	for _, f := range t.Fields {
		if _, ok := reflect.StructTag(f.Tag).Lookup("json"); !ok && strings.Contains(f.Tag, "json:") {
			r.errorf(f.Pos, "the tag `%s` of field %s can't be read: write `json:\"name\"`", f.Tag, f.Name)
		}
		r.tag(f, t.Fields)
		if f.Ignored || f.Inline {
			continue
		}
		if other := seen[f.JSON]; other != nil {
			r.errorf(f.Pos, "the fields %s and %s have the same name on the wire, %q: encoding/json would leave out "+
				"both", other.Name, f.Name, f.JSON)
			continue
		}
		seen[f.JSON] = f
	}
}

// envelope reports fields with the names of TypeMeta and ObjectMeta on the wire, and these two under other names.
func (r *checker) envelope(m *model.Type) {
	for _, f := range m.Fields {
		switch {
		case f.Embedded && f.Name == "TypeMeta" && !f.Inline:
			r.errorf(f.Pos,
				"the kind and apiVersion of an object stand at its top: write `json:\",inline\"` behind TypeMeta")
		case f.Embedded && f.Name == "ObjectMeta" && f.Tag == "":
			r.warnf(f.Pos, "the metadata of an object is called \"metadata\", and here it has no name: "+
				"write `json:\"metadata,omitempty\"` behind ObjectMeta")
		case f.Embedded && f.Name == "ObjectMeta" && (f.Inline || f.Ignored || f.JSON != "metadata"):
			r.errorf(f.Pos, "the metadata of an object is called \"metadata\": "+
				"write `json:\"metadata,omitempty\"` behind ObjectMeta")
		case !f.Embedded && !f.Ignored && (f.JSON == "kind" || f.JSON == "apiVersion"):
			r.errorf(f.Pos, "field %s of %s is called %q on the wire, where every object has its own: choose "+
				"another name", f.Name, m.Name, f.JSON)
		}
	}
}

// copyFields reports fields that have the name of a method that copies: a type can't have both.
func (r *checker) copyFields(m *model.Type) {
	names := map[string]bool{"DeepCopyInto": true, "DeepCopy": true}
	for _, r := range m.DeepCopyInterfaces {
		names["DeepCopy"+r.Name] = true
	}
	for _, f := range m.Fields {
		if names[f.Name] {
			r.errorf(f.Pos, "field %s of %s has the name of a method that is generated: give it another name in "+
				"Go, its tag keeps that on the wire", f.Name, m.Name)
		}
	}
}

// tag warns of misspelt options, and of fields without a tag beside fields with one. Internal types need no tags.
func (r *checker) tag(f *model.Field, beside []*model.Field) {
	text, tagged := reflect.StructTag(f.Tag).Lookup("json")
	_, options, _ := strings.Cut(text, ",")
	for _, o := range strings.Split(options, ",") {
		if s := spelling.Nearest(o, jsonOptions); o != "" && s != "" && s != o {
			r.warnf(f.Pos, "the option %q in the tag of field %s means nothing: did you mean %q?", o, f.Name, s)
		}
	}
	r.options(f, options)
	if internal := r.in.HasGroup && r.in.Version == ""; internal || tagged || !f.Exported || f.Embedded {
		return
	}
	for _, other := range beside {
		if _, ok := reflect.StructTag(other.Tag).Lookup("json"); ok && !other.Embedded {
			r.warnf(f.Pos, "field %s is called %q on the wire, since it has no tag: write `json:\"%s\"`",
				f.Name, f.JSON, wireName(f.Name))
			return
		}
	}
}

// options warns of options that encoding/json doesn't take as they are meant.
func (r *checker) options(f *model.Field, options string) {
	for _, o := range strings.Split(options, ",") {
		switch at := f.Type.Pointee(); {
		case o == "inline" && !f.Inline && !f.Ignored:
			r.warnf(f.Pos, "the option \"inline\" in the tag of field %s means nothing: encoding/json puts only "+
				"embedded structs without a name inline, and calls this %q", f.Name, f.JSON)
		case o == "string" && at != nil && at.Form == model.Basic && !f.Ignored:
			r.warnf(f.Pos, "the option \"string\" in the tag of field %s makes its JSON a string, and the schema "+
				"says %s: leave it out, or make the field a string", f.Name, at.Basic)
		}
	}
}

var leadingWord = regexp.MustCompile(`^[A-Z]+([A-Z][a-z])|^[A-Z]+`)

// wireName returns the name that a field customarily has on the wire: its first word is lower-case, as in dnsNames and
// url.
func wireName(field string) string {
	at := leadingWord.FindStringSubmatchIndex(field)
	if at == nil {
		return field
	}
	end := at[1]
	if at[2] >= 0 {
		end = at[2]
	}
	return strings.ToLower(field[:end]) + field[end:]
}

var jsonOptions = []string{"omitempty", "omitzero", "inline", "string"}

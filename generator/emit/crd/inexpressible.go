package crd

import (
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// cannot begins remarks on features that a definition leaves out.
const cannot = "a CustomResourceDefinition can't express "

// inexpressible remarks on markers of values for which schemas have no keyword.
type inexpressible struct{ out *diag.Errors }

func (u inexpressible) field(field *schema.Field) {
	f := field.Go
	u.schema(&f.Schema)
	if f.Schema.PatchStrategy != "" {
		u.out.Add(f.Pos, cannot+"patchStrategy of %s: custom resources have no strategic merge patches", f.Name)
	}
	if f.Schema.Opaque {
		u.out.Add(f.Pos, cannot+"+k8s:opaqueType of %s: the rules of its type hold there, too", f.Name)
	}
}

func (u inexpressible) schema(s *model.Schema) {
	if s == nil {
		return
	}
	for _, r := range s.Rules {
		switch {
		case r.Check == model.MaxBytes:
			u.out.Add(r.Pos, cannot+"+%s: it counts characters", r.Marker)
		case r.Check == model.Format && r.Declarative && !checkedFormats[r.Text]:
			u.out.Add(r.Pos, cannot+"+%s=%s: no cluster checks that format", r.Marker, r.Text)
		case !expressed(r):
			u.out.Add(r.Pos, cannot+"+%s: it is left out", r.Marker)
		}
	}
	u.schema(s.Items)
	if s.Keys.Checked() {
		u.part("k8s:eachKey", s.Keys)
	}
	for _, parts := range []struct {
		marker string
		list   []model.Part
	}{{"k8s:subfield", s.Subfields}, {"k8s:item", s.Elements}, {"k8s:ifMode", s.Modes}} {
		for _, p := range parts.list {
			u.out.Add(p.Pos, cannot+"+%s: it is left out", parts.marker)
		}
	}
}

func (u inexpressible) part(marker string, s *model.Schema) {
	for _, r := range s.Rules {
		u.out.Add(r.Pos, cannot+"+%s=+%s: it is left out", marker, r.Marker)
	}
}

// checkedFormats are the formats of Kubernetes' own grammar that clusters check in custom resources.
var checkedFormats = map[string]bool{"k8s-short-name": true, "k8s-long-name": true}

// expressed reports whether a schema has a keyword for the rule.
func expressed(r model.Rule) bool {
	switch r.Check {
	case model.Forbidden, model.NotEqual, model.Update, model.Monotonic, model.UnionMember, model.UnionDiscriminator,
		model.ZeroOrOneOfMember, model.ModeDiscriminator, model.DependentRequired, model.DependentForbidden:
		return false
	case model.Unique: // but by the type of the list
		return strings.HasSuffix(r.Marker, "listType")
	}
	return true
}

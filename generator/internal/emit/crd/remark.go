package crd

import (
	"reflect"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/hook"
	"apigen.dev/generator/internal/schema"
)

// Remarks report the features of kinds below marked packages that a CustomResourceDefinition can't express, and that a
// cluster with the definition therefore lacks, sorted by position.
func Remarks(p *plan.Plan) []diag.Error {
	var out diag.Errors
	for _, pkg := range p.Written() {
		if pkg.CRDs == nil {
			continue
		}
		b := newBuilder(pkg.EmbeddedMetadata)
		var roots []*schema.Type
		for _, r := range kindsBelow(p.Program, pkg) {
			switch {
			case r.WithoutStorage:
				out.Add(r.Hub.Pos, cannot+"%s, of which nothing is stored: there is none", r.Kind)
				continue
			case r.SameAs != nil:
				out.Add(r.versions[0].Type.Pos, cannot+"%s, whose objects are those of %s in group %q: there is none",
					r.Kind, r.SameAs.Kind, r.SameAs.Group.Name)
				continue
			case r.group.Name == "":
				out.Add(r.Hub.Pos, cannot+"%s, which is of the core group: there is none", r.Kind)
				continue
			}
			hooks(&out, r, p.OfResource(r.Resource).Hooks)
			b.conversions(&out, r)
			b.byHand(&out, r)
			for _, v := range r.versions {
				status(&out, r, v)
				ways(&out, r, v)
				b.scaleSelector(&out, r, v)
				roots = append(roots, b.types.Type(v.Type))
			}
		}
		for _, t := range reached(roots...) {
			inexpressible(&out, &t.Go.Schema)
			for _, f := range t.Fields {
				inexpressibleField(&out, f.Go)
			}
		}
	}
	return out.Sorted()
}

// hooks remarks on the methods that a server calls on writes, on the functions that stand for them, and on the
// subresources other than status and scale.
func hooks(out *diag.Errors, r resource, hooks []hook.Hook) {
	for _, h := range hooks {
		name, what := r.Kind+"."+h.Func.Name, "method"
		if h.Function {
			name, what = h.Func.Name, "function"
		}
		out.Add(h.Func.Pos, cannot+"%s: what the %s does on writes, a cluster needs a webhook for", name, what)
	}
	for _, s := range r.Subresources {
		if s.Form != model.ScaleSubresource {
			out.Add(s.Pos, cannot+"the subresource %s of %s", s.Name, r.Kind)
		}
	}
	if m := r.StatusMarker; m != nil {
		out.Add(m.Pos, cannot+"which metadata a write of the status of %s changes", r.Kind)
	}
}

// status remarks on a status subresource that either the server has or the definition.
func status(out *diag.Errors, r resource, v model.ResourceVersion) {
	switch k := v.Type.Kind; {
	case k.HasStatus && !k.Manifest.Status:
		out.Add(v.Type.Pos, "the server has a status subresource of %s, for there is a field Status; the "+
			"CustomResourceDefinition has none in %s without +kubebuilder:subresource:status", r.Kind, v.Version.Name)
	case !r.Status && k.Manifest.Status:
		out.Add(v.Type.Pos, "the CustomResourceDefinition has a status subresource of %s in %s, for it is marked so; "+
			"the server has none, for a version has no field Status or no such marker", r.Kind, v.Version.Name)
	}
}

// ways remarks on the markers of a kind, on its columns, and on the defaults that code sets.
func ways(out *diag.Errors, r resource, v model.ResourceVersion) {
	k := v.Type.Kind
	for _, m := range []struct {
		said bool
		name string
	}{{k.CreateOnUpdate, "createOnUpdate"}, {k.RequireResourceVersion, "requireResourceVersion"},
		{k.ReturnDeletedObject, "returnDeletedObject"}} {
		if m.said {
			out.Add(v.Type.Pos, cannot+"+apigen:%s of %s", m.name, r.Kind)
		}
	}
	if k.Generation != nil && !*k.Generation {
		out.Add(v.Type.Pos, cannot+"+apigen:generation=false of %s: custom resources always have one", r.Kind)
	}
	if k.Name != nil {
		out.Add(k.NamePos, cannot+"+apigen:name=%s of %s: the names of custom resources are DNS subdomains",
			k.Name.Word, r.Kind)
	}
	if k.Verbs != nil {
		out.Add(k.VerbsPos, cannot+"+apigen:verbs of %s: a cluster serves custom resources with all verbs", r.Kind)
	}
	if k.StoragePrefix != "" {
		out.Add(k.StoragePrefixPos, cannot+"+apigen:storagePrefix of %s: the cluster says where custom resources are "+
			"stored", r.Kind)
	}
	if v.Type.BringsProtobuf() {
		out.Add(v.Type.Pos, cannot+"%s in protobuf: custom resources are JSON, YAML and CBOR", r.Kind)
	}
	for _, c := range k.Columns {
		if c.Method != "" {
			out.Add(c.Pos, cannot+"the column %s, which the method %s makes: it is left out", c.Name, c.Method)
		}
		if c.Format == model.NameFormat {
			out.Add(c.Pos, cannot+"the place of the column %s: a cluster shows the name first", c.Name)
		}
	}
	for _, f := range k.Selectable {
		if "."+f.Name != f.JSONPath {
			out.Add(f.Pos, cannot+"the selectable field %s, whose name is no path: it is left out", f.Name)
		}
	}
	for _, f := range v.Type.Package.Home().Funcs {
		if strings.HasPrefix(f.Name, "SetDefaults_") {
			out.Add(f.Pos, cannot+"%s: defaults that code sets are left out", f.Name)
		}
	}
}

// conversions remarks on versions whose objects look different: a cluster changes nothing but their apiVersion.
func (b *builder) conversions(out *diag.Errors, r resource) {
	var stored object
	for _, v := range r.versions {
		if v.Version == r.storage {
			stored = shapeOf(b.root(v.Type))
		}
	}
	for _, v := range r.versions {
		if stored != nil && v.Version != r.storage && !reflect.DeepEqual(shapeOf(b.root(v.Type)), stored) {
			out.Add(v.Type.Pos, cannot+"the conversion of %s between %s and %s, whose schemas differ: a cluster needs "+
				"a webhook for it", r.Kind, v.Version.Name, r.storage.Name)
		}
	}
}

func shapeOf(s object) object {
	for key, value := range s {
		switch {
		case key == "properties":
			for _, property := range value.(object) {
				shapeOf(property.(object))
			}
		case documentation[key]:
			delete(s, key)
		default:
			if inner, ok := value.(object); ok && key != "default" {
				shapeOf(inner)
			}
		}
	}
	return s
}

// byHand remarks on hand-written conversions: they may change values even where the schemas are the same.
func (b *builder) byHand(out *diag.Errors, r resource) {
	if len(r.versions) < 2 {
		return
	}
	types, homes := []*schema.Type{b.types.Type(r.Hub)}, []*model.Package{r.Hub.Package.Home()}
	for _, v := range r.versions {
		types, homes = append(types, b.types.Type(v.Type)), append(homes, v.Type.Package.Home())
		for _, name := range []string{"ConvertTo", "ConvertFrom"} {
			if m := v.Type.Methods[name]; m != nil {
				out.Add(m.Pos, conversionsByHand, r.Kind+"."+name)
			}
		}
	}
	own := map[*model.Type]bool{}
	for _, t := range reached(types...) {
		own[t.Go] = true
	}
	for _, home := range homes {
		for _, f := range home.Funcs {
			if strings.HasPrefix(f.Name, "Convert_") && f.ConversionFn != "copy-only" && len(f.Params) > 1 &&
				(own[f.Params[0].Pointee()] || own[f.Params[1].Pointee()]) {
				out.Add(f.Pos, conversionsByHand, f.Name)
			}
		}
	}
}

const conversionsByHand = cannot + "%s: what is converted by hand, a cluster needs a webhook for"

// cannot begins remarks on features that a definition leaves out.
const cannot = "a CustomResourceDefinition can't express "

func inexpressibleField(out *diag.Errors, f *model.Field) {
	inexpressible(out, &f.Schema)
	if f.Schema.PatchStrategy != "" {
		out.Add(f.Pos, cannot+"patchStrategy of %s: custom resources have no strategic merge patches", f.Name)
	}
	if f.Schema.Opaque {
		out.Add(f.Pos, cannot+"+k8s:opaqueType of %s: the rules of its type hold there, too", f.Name)
	}
}

// inexpressible remarks on markers of values for which schemas have no keyword.
func inexpressible(out *diag.Errors, s *model.Schema) {
	if s == nil {
		return
	}
	for _, r := range s.Rules {
		switch {
		case r.Check == model.MaxBytes:
			out.Add(r.Pos, cannot+"+%s: it counts characters", r.Marker)
		case r.Check == model.Format && r.Declarative && !checkedFormats[r.Text]:
			out.Add(r.Pos, cannot+"+%s=%s: no cluster checks that format", r.Marker, r.Text)
		case !expressed(r):
			out.Add(r.Pos, cannot+"+%s: it is left out", r.Marker)
		}
	}
	inexpressible(out, s.Items)
	if s.Keys.Checked() {
		for _, r := range s.Keys.Rules {
			out.Add(r.Pos, cannot+"+k8s:eachKey=+%s: it is left out", r.Marker)
		}
	}
	for _, parts := range []struct {
		marker string
		list   []model.Part
	}{{"k8s:subfield", s.Subfields}, {"k8s:item", s.Elements}, {"k8s:ifMode", s.Modes}} {
		for _, p := range parts.list {
			out.Add(p.Pos, cannot+"+%s: it is left out", parts.marker)
		}
	}
}

// checkedFormats are the formats of Kubernetes' own grammar that clusters check in custom resources.
var checkedFormats = map[string]bool{"k8s-short-name": true, "k8s-long-name": true}

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

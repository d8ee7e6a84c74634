package crd

import (
	"errors"
	"reflect"
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
	"apigen.dev/generator/schema"
)

// Remarks report the features of kinds below marked packages that a CustomResourceDefinition can't express, and that a
// cluster with the definition therefore lacks, sorted by position.
func Remarks(p *plan.Plan) []diag.Error {
	var out diag.Errors
	for _, pkg := range p.Packages {
		if pkg.CRDs == nil || !p.Writes(pkg) {
			continue
		}
		b := newBuilder(pkg.EmbeddedMetadata, new(diag.Errors))
		u := inexpressible{&out}
		w := &walk{visitField: u.field, visitType: func(t *schema.Type) { u.schema(&t.Go.Schema) },
			seen: map[*model.Type]bool{}}
		for _, r := range kindsBelow(p.Program, pkg) {
			switch {
			case r.WithoutStorage():
				out.Add(r.Hub.Pos, cannot+"%s, of which nothing is stored: there is none", r.Kind)
				continue
			case r.group.Name == "":
				out.Add(r.Hub.Pos, cannot+"%s, which is of the core group: there is none", r.Kind)
				continue
			}
			hooks(&out, r, p.Hooks[r.Resource])
			subresources(&out, r)
			kinds(&out, r)
			b.conversions(&out, r)
			b.byHand(&out, r)
			for _, v := range r.versions {
				defaults(&out, v)
				w.named(b.types.Type(v.Type))
			}
		}
	}
	var sorted diag.Errors
	errors.As(out.Err(), &sorted)
	return sorted
}

// hooks remarks on the methods that a server calls on writes, and on the functions that stand for them.
func hooks(out *diag.Errors, r resource, hooks []plan.Hook) {
	for _, h := range hooks {
		name, what := r.Kind+"."+h.Func.Name, "method"
		if h.Function {
			name, what = h.Func.Name, "function"
		}
		out.Add(h.Func.Pos, cannot+"%s: what the %s does on writes, a cluster needs a webhook for", name, what)
	}
}

// subresources remarks on those that are no status and no scale.
func subresources(out *diag.Errors, r resource) {
	for _, s := range r.Subresources {
		if s.Form != model.ScaleSubresource {
			out.Add(s.Pos, cannot+"the subresource %s of %s", s.Name, r.Kind)
		}
	}
}

func kinds(out *diag.Errors, r resource) {
	for _, v := range r.versions {
		status(out, r, v)
		ways(out, r, v)
		for _, c := range v.Type.Kind.Columns {
			if c.Method != "" {
				out.Add(c.Pos, cannot+"the column %s, which the method %s makes: it is left out", c.Name, c.Method)
			}
		}
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
			"the server has none where a version has no field Status", r.Kind, v.Version.Name)
	}
}

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
	if k.StoragePrefix != "" {
		out.Add(k.StoragePrefixPos, cannot+"+apigen:storagePrefix of %s: the cluster says where custom resources are "+
			"stored", r.Kind)
	}
	if v.Type.BringsProtobuf() {
		out.Add(v.Type.Pos, cannot+"%s in protobuf: custom resources are JSON, YAML and CBOR", r.Kind)
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

// shapeOf removes the documentation from a schema.
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
	own := &walk{seen: map[*model.Type]bool{}}
	own.named(b.types.Type(r.Hub))
	homes := []*model.Package{r.Hub.Package.Home()}
	for _, v := range r.versions {
		own.named(b.types.Type(v.Type))
		homes = append(homes, v.Version.Package.Home())
		for _, name := range []string{"ConvertTo", "ConvertFrom"} {
			if m := v.Type.Methods[name]; m != nil {
				out.Add(m.Pos, conversionsByHand, r.Kind+"."+name)
			}
		}
	}
	for _, home := range homes {
		for _, f := range home.Funcs {
			if strings.HasPrefix(f.Name, "Convert_") && f.ConversionFn != "copy-only" && len(f.Params) > 1 &&
				(own.seen[f.Params[0].Pointee()] || own.seen[f.Params[1].Pointee()]) {
				out.Add(f.Pos, conversionsByHand, f.Name)
			}
		}
	}
}

const conversionsByHand = cannot + "%s: what is converted by hand, a cluster needs a webhook for"

func defaults(out *diag.Errors, v model.ResourceVersion) {
	for _, f := range v.Version.Package.Home().Funcs {
		if strings.HasPrefix(f.Name, "SetDefaults_") {
			out.Add(f.Pos, cannot+"%s: defaults that code sets are left out", f.Name)
		}
	}
}

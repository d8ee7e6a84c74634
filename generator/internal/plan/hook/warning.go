package hook

import (
	"maps"
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/spelling"
)

// Warnings names the methods and functions of a kind that look as if the server called them and that it doesn't
// call, since they have another signature or name, or stand on another type than the hub.
func Warnings(r *model.Resource) diag.Errors {
	var out diag.Errors
	if r.SameAs == nil { // else they are those of another resource
		warnHub(&out, r)
		warnWebhookTypes(&out, r)
	}
	for _, home := range ownHomes(r) {
		warnFunctions(&out, r, home)
	}
	warnStatus(&out, r)
	for _, v := range r.Versions {
		warnElsewhere(&out, r, v.Type)
	}
	for i := range out {
		out[i].Unenforced = diag.Functions
	}
	return out
}

// warnHub names the methods of the hub, and the functions that stand for them.
func warnHub(out *diag.Errors, r *model.Resource) {
	home := r.Hub.Package.ServedBy
	for _, c := range conventionsOf(r) {
		switch m, _ := r.Hub.Method(c.name); {
		case m == nil || c.fits(m, r.Hub):
		case home != nil:
			c.warnForeign(out, m, r.Hub, r.Hub)
		default:
			out.Add(m.Pos, "method %s of %s is not called by the server: its signature is not `func (in *%s) %s%s`",
				c.name, r.Hub.Name, r.Hub.Name, c.name, expand(c.signature, r.Hub.Name))
		}
	}
	warnMisnamed(out, r)
	if home != nil {
		warnFunctions(out, r, home)
	}
}

// warnStatus names the hooks of a status that is no subresource, which is written with the object.
func warnStatus(out *diag.Errors, r *model.Resource) {
	if r.Status {
		return
	}
	for _, h := range Of(r) {
		if h.Name == PreparePart("Status") || h.Name == ValidatePart("Status") {
			out.Add(h.Func.Pos, "%s of %s is not called by the server: the kind has no subresource status, which "+
				"+kubebuilder:subresource:status makes of its field Status", h.Func.Name, r.Kind)
		}
	}
}

// warnFunctions names the functions of a package that have the name of a hook and another signature, but those for
// another version, which warnElsewhere names.
func warnFunctions(out *diag.Errors, r *model.Resource, home *model.Package) {
	for _, c := range conventions() {
		name := c.functionName(r.Hub.Name)
		f := home.Func(name)
		ofVersion := func(v model.ResourceVersion) bool {
			return v.Type.Package.ServedBy == home && c.fitsFunction(f, v.Type)
		}
		if f != nil && !c.fitsFunction(f, r.Hub) && !slices.ContainsFunc(r.Versions, ofVersion) {
			out.Add(f.Pos, "function %s is not called by the server: its signature is not `func %s%s`",
				name, name, expand(c.functionSignature(), model.TypeText(r.Hub)))
		}
	}
}

func warnElsewhere(out *diag.Errors, r *model.Resource, t *model.Type) {
	if t == r.Hub {
		return
	}
	const remedy = "is not called by the server: logic works on the hub, so write it for"
	for _, c := range conventions() {
		if m, _ := t.Method(c.name); m != nil && c.fits(m, t) {
			out.Add(m.Pos, "method %s of %s %s %s.%s", c.name, model.TypeText(t), remedy, r.Hub.Package.Path,
				r.Hub.Name)
		}
		if f := c.functionOf(t, servedBy(t)); f != nil {
			out.Add(f.Pos, "function %s %s %s.%s", f.Name, remedy, r.Hub.Package.Path, r.Hub.Name)
		}
	}
}

// warnMisnamed finds methods of the hub that nobody calls: those that a webhook would have, and those that are nearly
// called like one that the server calls.
func warnMisnamed(out *diag.Errors, r *model.Resource) {
	for _, name := range slices.Sorted(maps.Keys(r.Hub.Methods)) {
		m := r.Hub.Methods[name]
		if instead, ok := webhookMethods[name]; ok {
			warnWebhook(out, m, r.Hub, r.Hub, instead)
			continue
		}
		for _, c := range conventionsOf(r) {
			if spelling.Misspelt(name, c.name) && !has(r.Hub, c.name) && !isConvention(name) &&
				c.fits(m, r.Hub) {
				out.Add(m.Pos, "method %s of %s is not called by the server: it is called %s there", name, r.Hub.Name,
					c.name)
				break
			}
		}
	}
}

func has(t *model.Type, method string) bool {
	m, _ := t.Method(method)
	return m != nil
}

// warnForeign names what to write in place of a method of a kind of another module that the server can't call, unless
// it is there.
func (c convention) warnForeign(out *diag.Errors, m *model.Func, on, hub *model.Type) {
	if c.functionOf(hub, servedBy(hub)) == nil {
		out.Add(m.Pos, "method %s of %s is not called by the server: write `func %s%s` in package %s", m.Name, on.Name,
			c.functionName(hub.Name), expand(c.functionSignature(), model.TypeText(hub)), hub.Package.ServedBy.Path)
	}
}

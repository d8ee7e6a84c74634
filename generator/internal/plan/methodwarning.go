package plan

import (
	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/contextual"
)

// MethodWarnings names the methods of a kind's versions that look as if the server called them to set defaults or to
// convert, and that it doesn't call.
func (p *Plan) MethodWarnings(r *model.Resource) diag.Errors {
	var out diag.Errors
	for _, v := range r.Versions {
		p.warnDefaulter(&out, v.Type)
		if v.Type != r.Hub {
			p.warnConverter(&out, v.Type, Pair{v.Type, r.Hub}, "ConvertTo")
			p.warnConverter(&out, v.Type, Pair{r.Hub, v.Type}, "ConvertFrom")
		}
	}
	return out
}

func (p *Plan) warnDefaulter(out *diag.Errors, t *model.Type) {
	m := t.Methods["SetDefaults"]
	if m == nil {
		return
	}
	home := p.defaultedIn(t)
	function := "SetDefaults_" + t.Name
	switch {
	case p.DefaultsMethod(t) != nil:
	case home.Func(function) != nil:
		out.Add(m.Pos, "method SetDefaults of %s is not called by the server: function %s is called in its place",
			t.Name, function)
	case contextual.Defaulter(t) == nil && t.Package.ServedBy == nil:
		out.Add(m.Pos, "method SetDefaults of %s is not called by the server: its signature is not `func (in *%s) %s`",
			t.Name, t.Name, contextual.SetDefaultsSignature)
	default:
		out.Add(m.Pos, "method SetDefaults of %s is not called by the server: write `func %s(in *%s)` in package %s",
			t.Name, function, model.TypeText(t), home.Path)
	}
}

// DefaultsMethod returns the method that the server calls to set the defaults of a kind; nil if it calls none.
func (p *Plan) DefaultsMethod(t *model.Type) *model.Func {
	if d := p.DefaultsOf(t); d != nil && d.Types[t] != nil {
		return d.Types[t].Method
	}
	return nil
}

// DefaultsOf returns the defaulting functions of the package that sets the defaults of a kind; nil if it has none.
func (p *Plan) DefaultsOf(t *model.Type) *Defaults { return p.OfPackage(p.defaultedIn(t)).Defaults }

// defaultedIn returns the package with the functions that set the defaults of a kind.
func (p *Plan) defaultedIn(t *model.Type) *model.Package {
	if t.Package.ServedBy != nil {
		return t.Package.ServedBy
	}
	return p.Home(t.Package)
}

func (p *Plan) warnConverter(out *diag.Errors, version *model.Type, pair Pair, method string) {
	m := version.Methods[method]
	if m == nil {
		return
	}
	const uncalled = "method %s of %s is not called by the server: "
	home := p.convertedIn(version, pair)
	if home != nil {
		if c := p.OfPackage(home).Conversions; c != nil {
			if f := c.Of(pair); f != nil && f.Method != "" {
				return
			}
		}
		if home.Func(pair.Function()) != nil {
			out.Add(m.Pos, uncalled+"function %s is called in its place", method, model.TypeText(version),
				pair.Function())
			return
		}
	}
	out.Add(m.Pos, uncalled+"its signature is neither `func (in *%s) %s(hub conversion.Hub) error`, for a hub with a "+
		"method Hub, nor `func (in *%s) %s%s`, in a package that imports the hub's", method, model.TypeText(version),
		version.Name, method, version.Name, method, contextual.ConvertSignature)
}

// Package defaults emits zz_generated.defaults.go: SetObjectDefaults_X for every kind that reaches a default, and
// RegisterDefaults, with the names and the order of calls of code-generator's defaulter-gen. Hand-written SetDefaults_X
// functions are called at every depth, and the values of markers are set where a field is still zero. The plan says
// what is called and set where. It knows the plan, the model, emit and gocode.
package defaults

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/defaulter"
	"apigen.dev/generator/internal/spelling"
)

const runtimePath = "k8s.io/apimachinery/pkg/runtime"

// Emitter returns the emitter of defaulting functions.
func Emitter() emit.Emitter {
	e := gocode.Emitter("defaults", "SetObjectDefaults_X and RegisterDefaults for kinds that have defaults", write)
	e.Faults = emit.FaultsOf(func(p *plan.Plan, pkg *model.Package) diag.Errors {
		return p.OfPackage(pkg).Defaults.Faults
	})
	e.Warnings = warnings
	return e
}

func write(p *plan.Plan, pkg *model.Package) *gocode.File {
	d := p.OfPackage(pkg).Defaults
	w := &writer{
		plan: d, program: p.Program, file: gocode.New(p.Program, pkg, "d", "e", "f", "g", "h", "l", "m", "n"),
		helpers: map[*model.Type]string{}, taken: map[string]bool{},
	}
	if w.plan.Generated {
		w.register()
	}
	for _, t := range w.plan.Objects {
		name := defaulter.ObjectName(t)
		w.function(name, name+" sets the defaults of the object and of all that is in it.", t)
	}
	for len(w.pending) > 0 {
		h := w.pending[0]
		w.pending = w.pending[1:]
		w.function(h.name, h.name+" sets the defaults in values of the type "+h.t.Name+", at any depth.", h.t)
	}
	return w.file
}

func (w *writer) register() {
	var body []jen.Code
	for _, t := range w.plan.Objects {
		if !isObject(t) {
			continue
		}
		body = append(body, w.file.Code("scheme.AddTypeDefaultingFunc(&$, func(obj any) {\n$(obj.(*$))\n})",
			w.file.Type(t).Values(), defaulter.ObjectName(t), w.file.Type(t)))
	}
	body = append(body, jen.Return(jen.Nil()))
	w.file.Add("RegisterDefaults adds the defaulting functions of this package to the scheme. "+
		"Each sets the defaults of all\nthat its object holds.",
		w.file.Code("func RegisterDefaults(scheme *runtime.Scheme) error {$}", body))
}

func (w *writer) function(name, doc string, t *model.Type) {
	body := w.inside(t, gocode.Pointee("in"), 0)
	w.file.Add(doc, w.file.Code("func $(in *$) {$}", name, w.file.Type(t), body))
}

// isObject reports whether a scheme can know the type: a marker may ask for the defaults of any type, and a struct with
// a TypeMeta need not be a runtime.Object.
func isObject(t *model.Type) bool {
	return t.Methods["DeepCopyObject"] != nil ||
		slices.ContainsFunc(t.DeepCopyInterfaces, func(r model.Ref) bool {
			return r.Path == runtimePath && r.Name == "Object"
		})
}

type helper struct {
	name string
	t    *model.Type
}

func (w *writer) helperFor(t *model.Type) string {
	if name, ok := w.helpers[t]; ok {
		return name
	}
	name := "setNestedDefaults_" + t.Name
	for n := 2; w.taken[name] || w.plan.Package.Declares(name); n++ {
		name = fmt.Sprintf("setNestedDefaults_%s%d", t.Name, n)
	}
	w.taken[name] = true
	w.helpers[t] = name
	w.pending = append(w.pending, helper{name, t})
	return name
}

// warnings tells of functions that are called like defaulting functions and never called.
func warnings(p *plan.Plan) []diag.Error {
	var errs diag.Errors
	for _, pkg := range p.Written() {
		for _, f := range pkg.Funcs {
			name, ok := strings.CutPrefix(f.Name, "SetDefaults_")
			if f.Mentioned { // what is called by hand may look as it likes
				continue
			}
			if !ok {
				misnamed(&errs, pkg, f)
				continue
			}
			switch {
			case !defaulter.Is(f):
				errs.Add(f.Pos, "%s is never called: a defaulting function is func SetDefaults_%s(in *%s), named "+
					"after its one parameter and without results", f.Name, name, name)
			case pkg.Serves != nil && !p.CallsDefaulter(f):
				errs.Add(f.Pos, "%s is never called: no kind that is served here or in other packages holds a %s, "+
					"unless another function takes care of it", f.Name, model.TypeText(f.Params[0].Elem))
			}
		}
	}
	for i := range errs {
		errs[i].Unenforced = diag.Functions
	}
	return errs
}

func misnamed(errs *diag.Errors, pkg *model.Package, f *model.Func) {
	if len(f.Params) != 1 || len(f.Results) != 0 || f.Variadic || f.Params[0].Form != model.Pointer ||
		f.Params[0].Elem == nil {
		return
	}
	t := f.Params[0].Elem
	want := "SetDefaults_" + t.Name
	if t.Name != "" && spelling.Misspelt(f.Name, want) && pkg.Func(want) == nil {
		errs.Add(f.Pos, "%s is not called by generated code: a function that sets the defaults of %s is called %s",
			f.Name, t.Name, want)
	}
}

// Package defaults emits zz_generated.defaults.go: SetObjectDefaults_X for every kind that reaches a default, and
// RegisterDefaults, with the names and the order of calls of code-generator's defaulter-gen. Hand-written SetDefaults_X
// functions are called at every depth, and the values of markers are set where a field is still zero. The plan says
// what is called and set where. It knows the plan, the model, emit and gocode.
package defaults

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
	"apigen.dev/generator/spelling"
)

// FileName is the file that is emitted, as users know it.
const FileName = "zz_generated.defaults.go"

const runtimePath = "k8s.io/apimachinery/pkg/runtime"

// Emitter returns the emitter of defaulting functions.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name:  "defaults",
		Doc:   "SetObjectDefaults_X and RegisterDefaults for kinds that have defaults",
		Files: []string{FileName},
		Emit:  emitAll,

		Warnings: warnings,
	}
}

func emitAll(p *plan.Plan) ([]emit.File, error) {
	return gocode.Files(p, FileName, func(pkg *model.Package) (*gocode.File, diag.Errors) {
		w := newWriter(p, p.Defaults[pkg])
		w.functions()
		return w.file, w.errs
	})
}

// functions writes RegisterDefaults, the functions of the kinds, and the functions of types that contain themselves.
func (w *writer) functions() {
	if w.plan.Generated {
		w.register(w.plan.Objects)
	}
	for _, t := range w.plan.Objects {
		name := plan.ObjectDefaulter(t)
		w.function(name, name+" sets the defaults of the object and of all that is in it.", t)
	}
	for len(w.pending) > 0 {
		h := w.pending[0]
		w.pending = w.pending[1:]
		w.function(h.name, h.name+" sets the defaults in values of the type "+h.t.Name+", at any depth.", h.t)
	}
}

func (w *writer) register(objects []*model.Type) {
	body := make([]jen.Code, 0, len(objects)+1)
	for _, t := range objects {
		if !isObject(t) {
			continue
		}
		body = append(body, w.file.Code("scheme.AddTypeDefaultingFunc(&$, func(obj any) {\n$(obj.(*$))\n})",
			w.file.Type(t).Values(), plan.ObjectDefaulter(t), w.file.Type(t)))
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

// isObject tells whether a scheme can know the type: one that is asked for by itself need not be a runtime.Object.
func isObject(t *model.Type) bool {
	if t.Defaulter != "true" || t.Methods["DeepCopyObject"] != nil {
		return true
	}
	for _, ref := range t.DeepCopyInterfaces {
		if ref.Path == runtimePath && ref.Name == "Object" {
			return true
		}
	}
	return false
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
	for n := 2; w.taken[name] || plan.Declares(w.plan.Package, name); n++ {
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
	for _, pkg := range p.Packages {
		for _, f := range pkg.Funcs {
			name, ok := strings.CutPrefix(f.Name, "SetDefaults_")
			if !p.Writes(pkg) || f.Mentioned { // what is called by hand may look as it likes
				continue
			}
			if !ok {
				misnamed(&errs, pkg, f)
				continue
			}
			if !plan.IsDefaulter(f) {
				errs.Add(f.Pos, "%s is never called: a defaulting function is func SetDefaults_%s(in *%s), named "+
					"after its one parameter and without results", f.Name, name, name)
			}
		}
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

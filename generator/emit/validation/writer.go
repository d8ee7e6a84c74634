package validation

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// writer writes the file of one package.
type writer struct {
	program *model.Program
	pkg     *model.Package
	file    *gocode.File
	graph   *graph
	others  map[*model.Package]*graph
	errs    diag.Errors

	// helpers holds functions of this file for types of packages that have none of their own.
	helpers map[*model.Type]string
	pending []*model.Type
	taken   map[string]bool
	// variables are declared below the function that needs them.
	variables []declaration
	patterns  map[string]string
	// used holds the functions that others of the file call.
	used map[string]bool
}

type declaration struct {
	doc  string
	code jen.Code
}

func newWriter(program *model.Program, pkg *model.Package) *writer {
	return &writer{
		program: program, pkg: pkg, file: newFile(program, pkg), graph: newGraph(program, pkg),
		others: map[*model.Package]*graph{}, helpers: map[*model.Type]string{}, taken: map[string]bool{},
		patterns: map[string]string{}, used: map[string]bool{},
	}
}

// conflicts reports hand-written functions that have the name of a validation function and another signature.
func (w *writer) conflicts() {
	for _, t := range w.pkg.Source().Types {
		pos, taken := w.pkg.Declared[functionName(t)]
		if !taken || !w.graph.exported(t) {
			continue
		}
		if f := w.pkg.Func(functionName(t)); f == nil || len(f.Params) != 5 || len(f.Results) != 1 {
			name, advice := t.Name, "give this another name"
			if w.pkg.Serves != nil {
				name = t.Package.Name + "." + t.Name
				advice = "call this ValidateObject_" + t.Name + ", which the server calls beside it"
			}
			w.errs.Add(pos, "%s is the name of the function that checks the rules of %s: %s, or give it the signature "+
				"func(ctx context.Context, op operation.Operation, fldPath *field.Path, obj, oldObj *%s) "+
				"field.ErrorList",
				functionName(t), t.Name, advice, name)
		}
	}
}

// functions writes the functions of the package's types, the helper functions that they call, and the shared ones.
func (w *writer) functions() {
	for _, t := range w.graph.inOrder() {
		name := functionName(t)
		w.function(name, name+" checks obj, which replaces oldObj where that isn't nil.", t)
	}
	for len(w.pending) > 0 {
		t := w.pending[0]
		w.pending = w.pending[1:]
		w.function(w.helpers[t], w.helpers[t]+" checks obj, which replaces oldObj where that isn't nil.", t)
	}
	w.shared()
}

// The functions that others of the file call.
const (
	countSet = "countSet"
	inOrder  = "inOrder"
	byKeys   = "byKeys"
	sameJSON = "sameJSON"
)

// common returns one of the functions that others of the file call, and sees to it that the file has it.
func (w *writer) common(name string) *jen.Statement {
	w.used[name] = true
	return jen.Id(w.undeclared(name))
}

// undeclared returns a name, longer where hand-written code declares it.
func (w *writer) undeclared(name string) string {
	for declared(w.pkg, name) {
		name += "_"
	}
	return name
}

// shared writes the functions that others of the file call.
func (w *writer) shared() {
	list := jen.Add(w.file.Qual(fieldPath, "ErrorList"))
	write := func(name, doc string, code func(f *jen.Statement) *jen.Statement) {
		if w.used[name] {
			name = w.undeclared(name)
			w.file.Add(name+" "+doc, code(jen.Func().Id(name)))
		}
	}
	write(countSet, "counts the fields that are set.", func(f *jen.Statement) *jen.Statement {
		return f.Params(jen.Id("set").Op("...").Bool()).Params(jen.Id("n").Int()).Block(
			jen.For(jen.List(jen.Id("_"), jen.Id("s")).Op(":=").Range().Id("set")).Block(
				jen.If(jen.Id("s")).Block(jen.Id("n").Op("++"))),
			jen.Return(jen.Id("n")))
	})
	write(inOrder, "sorts what is wrong with the entries of a map, which Go visits in another order each time.",
		func(f *jen.Statement) *jen.Statement {
			return f.Params(jen.Id("errs").Add(list)).Add(list).Block(
				w.file.Qual("slices", "SortStableFunc").Call(jen.Id("errs"), expression(
					jen.Params(jen.List(jen.Id("a"), jen.Id("b")).Op("*").Add(w.file.Qual(fieldPath, "Error"))).Int(),
					w.file.Qual("strings", "Compare").Call(jen.Id("a").Dot("Error").Call(),
						jen.Id("b").Dot("Error").Call()))),
				jen.Return(jen.Id("errs")))
		})
	write(byKeys, "says of elements that are in a list twice only what they are told apart by.",
		func(f *jen.Statement) *jen.Statement {
			bad := func() *jen.Statement { return jen.Id("err").Dot("BadValue") }
			return f.Types(jen.Id("E").Any()).Params(jen.Id("errs").Add(list),
				jen.Id("keys").Func().Params(jen.Id("E")).Map(jen.String()).Any()).Add(list).Block(
				jen.For(jen.List(jen.Id("_"), jen.Id("err")).Op(":=").Range().Id("errs")).Block(
					bad().Op("=").Id("keys").Call(bad().Assert(jen.Id("E")))),
				jen.Return(jen.Id("errs")))
		})
	write(sameJSON, "tells whether two values are the same on the wire. Fields that aren't exported don't count.",
		func(f *jen.Statement) *jen.Statement {
			marshal := func(text, err, of string) jen.Code {
				return jen.List(jen.Id(text), jen.Id(err)).Op(":=").Add(w.file.Qual("encoding/json", "Marshal")).
					Call(jen.Id(of))
			}
			return f.Types(jen.Id("T").Any()).Params(jen.List(jen.Id("a"), jen.Id("b")).Id("T")).Bool().Block(
				marshal("x", "errX", "a"), marshal("y", "errY", "b"),
				jen.Return(jen.Id("errX").Op("==").Nil().Op("&&").Id("errY").Op("==").Nil().Op("&&").
					Add(w.file.Qual("bytes", "Equal")).Call(jen.Id("x"), jen.Id("y"))))
		})
}

// function writes the function that checks values of a named type.
func (w *writer) function(name, doc string, t *model.Type) {
	body := w.body(t, nil, true, t.Name)
	w.file.Add(doc, jen.Func().Id(name).Add(w.signature(t)).Block(body...))
	for _, v := range w.variables {
		w.file.Add(v.doc, v.code)
	}
	w.variables = nil
}

// signature returns the signature of all functions, behind the name.
func (w *writer) signature(t *model.Type) *jen.Statement {
	return jen.Params(
		jen.Id("ctx").Add(w.file.Qual(contextPath, "Context")),
		jen.Id("op").Add(w.file.Qual(operationPath, "Operation")),
		jen.Id("fldPath").Op("*").Add(w.file.Qual(fieldPath, "Path")),
		jen.List(jen.Id("obj"), jen.Id("oldObj")).Op("*").Add(w.file.Type(t)),
	).Params(jen.Id("errs").Add(w.file.Qual(fieldPath, "ErrorList")))
}

// body returns the statements that check the value that obj points to. Without a schema, they check the type's rules
// and its fields. With one, they check the element of a list or map by the schema, and with deep also by its type;
// elements that an update doesn't change never get here.
func (w *writer) body(t *model.Type, s *model.Schema, deep bool, label string) []jen.Code {
	v := self(t, label)
	inside := new(model.Schema)
	switch {
	case s != nil:
		inside = s
	case t.Name != "":
		inside = schema.Enforced(t)
	}
	var code []jen.Code
	if change := w.change(v, inside); len(change) > 0 && s == nil {
		code = append(code, jen.If(w.changed(v)).Block(change...))
	} else {
		code = append(code, change...)
	}
	content := append(w.content(v, inside), w.elements(v, inside)...)
	switch {
	case len(content) == 0:
	case s != nil:
		code = append(code, content...)
	case t.Form == model.Struct:
		code = append(code, jen.If(w.changed(v)).Block(content...))
	default:
		code = append(code, jen.If(jen.Id("oldObj").Op("!=").Nil().Op("&&").Add(w.equals(v))).
			Block(jen.Return(jen.Id("errs"))))
		code = append(code, content...)
	}
	code = append(code, w.subfields(v, inside)...)
	if call := w.call(v, jen.Id("fldPath")); s != nil && deep && call != nil {
		code = append(code, call)
	}
	if s == nil && t.Form == model.Struct {
		code = append(append(code, w.unions(v)...), w.fields(v)...)
	}
	return append(code, jen.Return(jen.Id("errs")))
}

// call returns the statement that calls the function of the value's type, or nil where it has no rules.
func (w *writer) call(v value, path jen.Code) jen.Code {
	f := w.functionOf(v.typ)
	if f == nil {
		return nil
	}
	return w.add(f.Call(jen.Id("ctx"), jen.Id("op"), path, v.place.Address(), w.oldAddress(v)))
}

// functionOf returns the function that checks values of a type, or nil where there is none.
func (w *writer) functionOf(t *model.Type) *jen.Statement {
	if t.Name == "" || t.Package == nil || ignored(t) {
		return nil
	}
	if w.graph.exported(t) {
		return jen.Id(functionName(t))
	}
	if w.graphOf(t.Package).exported(t) && t.Package != w.pkg && (t.Package.Output || t.Package.Module != nil &&
		t.Package.Module.Own) {
		return w.file.PackageQual(t.Package, functionName(t))
	}
	if !w.graph.reaches(t) {
		return nil
	}
	return jen.Id(w.helper(t))
}

func (w *writer) graphOf(pkg *model.Package) *graph {
	g := w.others[pkg]
	if g == nil {
		g = newGraph(w.program, pkg)
		w.others[pkg] = g
	}
	return g
}

// helper returns the name of the file's own function for a type of another package.
func (w *writer) helper(t *model.Type) string {
	if name, ok := w.helpers[t]; ok {
		return name
	}
	base := "validate_" + t.Package.Name + "_" + t.Name
	if t.Package == w.pkg {
		base = "validate_" + t.Name
	}
	for _, arg := range t.TypeArgs {
		base += "_" + arg.Pointee().Name + arg.Pointee().Basic
	}
	name := w.free(base)
	w.helpers[t] = name
	w.pending = append(w.pending, t)
	return name
}

// free returns the name, or a similar one that is not taken.
func (w *writer) free(base string) string {
	name := base
	for n := 2; w.taken[name] || declared(w.pkg, name); n++ {
		name = fmt.Sprintf("%s%d", base, n)
	}
	w.taken[name] = true
	return name
}

// declare declares a variable below the function that is being written, and returns its name.
func (w *writer) declare(base, doc string, value jen.Code) string {
	name := w.free(unexported(base))
	if doc != "" {
		doc = name + " " + doc
	}
	w.variables = append(w.variables, declaration{doc, jen.Var().Id(name).Op("=").Add(value)})
	return name
}

// unexported lowers the first letters of a name: CRDText becomes crdText.
func unexported(name string) string {
	n := 0
	for n < len(name) && name[n] >= 'A' && name[n] <= 'Z' {
		n++
	}
	if n > 1 && n < len(name) {
		n-- // the last one begins the next word
	}
	return strings.ToLower(name[:n]) + name[n:]
}

// add returns the statement that appends the errors of a call.
func (w *writer) add(errors jen.Code) *jen.Statement {
	return jen.Id("errs").Op("=").Append(jen.Id("errs"), jen.Add(errors).Op("..."))
}

// fail returns the statement that appends one error of package field: its constructor, and the arguments after the
// path.
func (w *writer) fail(v value, constructor string, args ...jen.Code) *jen.Statement {
	args = append([]jen.Code{jen.Id(v.path)}, args...)
	return jen.Id("errs").Op("=").Append(jen.Id("errs"), w.file.Qual(fieldPath, constructor).Call(args...))
}

// check calls one of apimachinery's functions on the value.
func (w *writer) check(v value, name string, val, old jen.Code, args ...jen.Code) *jen.Statement {
	return w.add(w.checked(v, name, val, old, args...))
}

func (w *writer) checked(v value, name string, val, old jen.Code, args ...jen.Code) *jen.Statement {
	args = append([]jen.Code{jen.Id("ctx"), jen.Id("op"), jen.Id(v.path), val, old}, args...)
	return w.file.Qual(validatePath, name).Call(args...)
}

// checkEntries is check for the entries of a map: it sorts their errors.
func (w *writer) checkEntries(v value, name string, args ...jen.Code) *jen.Statement {
	return w.add(w.common(inOrder).Call(w.checked(v, name, v.place.Value(), w.oldList(v), args...)))
}

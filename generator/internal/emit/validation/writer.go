package validation

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/check"
	"apigen.dev/generator/internal/schema"
)

type writer struct {
	plan   *plan.Plan
	pkg    *model.Package
	file   *gocode.File
	checks *check.Functions

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

func newWriter(p *plan.Plan, pkg *model.Package) *writer {
	file := gocode.New(p.Program, pkg, "ctx", "op", "fldPath", "path", "old", "oldObj", "errs", countSet, inOrder,
		byKeys, sameJSON, membersOf, unlessZero)
	return &writer{
		plan: p, pkg: pkg, file: file,
		checks: p.OfPackage(pkg).Validations, helpers: map[*model.Type]string{}, taken: map[string]bool{},
		patterns: map[string]string{}, used: map[string]bool{},
	}
}

// functions writes the functions of the package's types, the helper functions that they call, and the shared ones.
func (w *writer) functions() {
	for _, t := range w.checks.Generated() {
		w.function(check.FunctionName(t), t)
	}
	for len(w.pending) > 0 {
		t := w.pending[0]
		w.pending = w.pending[1:]
		w.function(w.helpers[t], t)
	}
	for _, f := range shared {
		if w.used[f.name] {
			name := w.undeclared(f.name)
			w.file.Add(name+" "+f.doc, w.file.Code("func "+name+f.text))
		}
	}
}

// The functions that others of the file call.
const (
	countSet = "countSet"
	inOrder  = "inOrder"
	byKeys   = "byKeys"
	sameJSON = "sameJSON"

	membersOf  = "membersOf"
	unlessZero = "unlessZero"
)

var shared = []struct{ name, doc, text string }{
	{countSet, "counts the fields that are set.", `(set ...bool) (n int) {
	for _, s := range set {
		if s {
			n++
		}
	}
	return n
}`},
	{inOrder, "sorts what is wrong with the entries of a map, which Go visits in another order each time.",
		`(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}`},
	{byKeys, "says of elements that are in a list twice only what they are told apart by.",
		`[E any](errs field.ErrorList, keys func(E) map[string]any) field.ErrorList {
	for _, err := range errs {
		err.BadValue = keys(err.BadValue.(E))
	}
	return errs
}`},
	{sameJSON, "reports whether two values are the same on the wire. Fields that aren't exported don't count.",
		`[T any](a, b T) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}`},
	{membersOf, "returns the struct of an embedded pointer, a zero one where that is nil.", `[T any](embedded *T) *T {
	if embedded == nil {
		return new(T)
	}
	return embedded
}`},
	{unlessZero, "returns a pointer to a struct, or nil if that is zero, so that JSON lacks it.", `[T any](v *T) *T {
	if reflect.ValueOf(v).Elem().IsZero() {
		return nil
	}
	return v
}`},
}

// common returns the name of one of the functions that others of the file call, which the file then has.
func (w *writer) common(name string) string {
	w.used[name] = true
	return w.undeclared(name)
}

// undeclared returns a name, longer where hand-written code declares it.
func (w *writer) undeclared(name string) string {
	for w.declared(name) {
		name += "_"
	}
	return name
}

func (w *writer) declared(name string) bool {
	_, ok := w.pkg.Declared[name]
	return ok
}

func (w *writer) function(name string, t *model.Type) {
	w.file.Add(name+" checks obj, which replaces oldObj where that isn't nil.",
		w.file.Code("func "+name+"$", w.checker(t, w.body(t, nil, true, t.Name))))
	for _, v := range w.variables {
		w.file.Add(v.doc, v.code)
	}
	w.variables = nil
}

// checker returns the signature of functions that check values of a type, and their body.
func (w *writer) checker(t *model.Type, body []jen.Code) jen.Code {
	return w.file.Code("(ctx context.Context, op operation.Operation, fldPath *field.Path, obj, oldObj *$) "+
		"(errs field.ErrorList) $", w.file.Type(t), jen.Block(append(body, jen.Return(jen.Id("errs")))...))
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
		code = append(code, w.ifChanged(v, change...))
	} else {
		code = append(code, change...)
	}
	content := append(w.content(v, inside), w.elements(v, inside)...)
	switch {
	case len(content) == 0:
	case s != nil:
		code = append(code, content...)
	case t.Form == model.Struct:
		code = append(code, w.ifChanged(v, content...))
	default:
		code = append(code, w.ifThen(w.file.Code("oldObj != nil && $", w.equals(v)), jen.Return(jen.Id("errs"))))
		code = append(code, content...)
	}
	code = append(code, w.subfields(v, inside)...)
	if call := w.call(v, jen.Id("fldPath")); s != nil && deep && call != nil {
		code = append(code, call)
	}
	if s == nil && t.Form == model.Struct {
		code = append(append(code, w.unions(v)...), w.fields(v)...)
	}
	return code
}

func (w *writer) ifChanged(v value, body ...jen.Code) jen.Code {
	return w.ifThen(w.changed(v), body...)
}

func (w *writer) ifThen(condition jen.Code, body ...jen.Code) *jen.Statement {
	return w.file.Code("if $ $", condition, jen.Block(body...))
}

// call returns the statement that calls the function of the value's type, or nil if it has no rules.
func (w *writer) call(v value, path jen.Code) jen.Code {
	f := w.functionOf(v.typ)
	if f == nil {
		return nil
	}
	return w.add("$(ctx, op, $, $, $)", f, path, v.place.Address(), w.oldAddress(v))
}

func (w *writer) functionOf(t *model.Type) jen.Code {
	if t.Name == "" || t.Package == nil || check.Ignored(t) {
		return nil
	}
	if w.checks.Exported(t) {
		return jen.Id(check.FunctionName(t))
	}
	if w.plan.ValidatedElsewhere(w.pkg, t) {
		return w.file.PackageQual(t.Package, check.FunctionName(t))
	}
	if !w.checks.Reaches(t) {
		return nil
	}
	return jen.Id(w.helper(t))
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

func (w *writer) free(base string) string {
	name := base
	for n := 2; w.taken[name] || w.declared(name); n++ {
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
	w.variables = append(w.variables, declaration{doc, w.file.Code("var "+name+" = $", value)})
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

func (w *writer) add(call string, args ...any) *jen.Statement {
	return w.file.Code("errs = append(errs, $...)", w.file.Code(call, args...))
}

// fail returns the statement that appends one error of package field: its constructor, and the arguments after the
// path.
func (w *writer) fail(v value, constructor string, args ...jen.Code) *jen.Statement {
	return w.file.Code("errs = append(errs, field."+constructor+"("+v.path+", $))", jen.List(args...))
}

func (w *writer) check(v value, name string, args ...jen.Code) *jen.Statement {
	return w.add("$", w.checked(v, name, args...))
}

func (w *writer) checked(v value, name string, args ...jen.Code) *jen.Statement {
	return w.file.Code("validate."+name+"(ctx, op, "+v.path+", $)", jen.List(args...))
}

// checkEntries is check for the entries of a map: it sorts their errors.
func (w *writer) checkEntries(v value, name string, args ...jen.Code) *jen.Statement {
	args = append([]jen.Code{v.place.Value(), w.oldList(v)}, args...)
	return w.add(w.common(inOrder)+"($)", w.checked(v, name, args...))
}

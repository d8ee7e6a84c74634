package plan

import (
	"go/token"
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/contextual"
	"apigen.dev/generator/internal/plan/defaulter"
	"apigen.dev/generator/internal/schema"
)

// Defaults are the defaulting functions of one package.
type Defaults struct {
	Package *model.Package
	// Source is the package whose types are defaulted.
	Source *model.Package
	// Objects are the types that get a SetObjectDefaults_X, by name.
	Objects []*model.Type
	// Registers: RegisterDefaults exists after the run; Generated: it is generated.
	Registers, Generated bool
	// Types say how values are defaulted, for each type that an object leads to and that has a default or holds one.
	Types map[*model.Type]*TypeDefaults
	// Faults are hand-written functions of which it can't be told which one is meant.
	Faults diag.Errors
}

// TypeDefaults says how the values of a type are defaulted: first by hand-written functions, then in what they hold.
type TypeDefaults struct {
	// Method is the hand-written method of a kind, SetDefaults(ctx), which is called first; it is nil if there is
	// none, or a function stands in its place.
	Method *model.Func
	// Calls are the hand-written functions, in order. Covers: they take care of all that is inside the type.
	Calls  []*model.Func
	Covers bool
	// ContainsItself: values may hold others of the type, so that it needs a function of its own.
	ContainsItself bool
	// Fields are those of a struct that have a default, or whose types hold one.
	Fields []FieldDefault
	// Element is the default of a list's or a map's elements; nil if they have none, or have defaults inside.
	Element *model.Default
}

// FieldDefault is a field and the default of its marker, which may be nil.
type FieldDefault struct {
	Field   *model.Field
	Default *model.Default
	// IfSent: the field is a struct in which no defaults are set if the JSON of an object lacks it, which the server
	// knows.
	IfSent bool
	// IfEmpty: the default takes the place of an empty list or map, too, which the JSON of a custom resource lacks.
	IfEmpty bool
}

// Object reports whether the type gets a SetObjectDefaults_X.
func (d *Defaults) Object(t *model.Type) bool { return slices.Contains(d.Objects, t) }

// CallsDefaulter reports whether some package's defaults call a hand-written function.
func (p *Plan) CallsDefaulter(f *model.Func) bool {
	for _, record := range p.PackagePlans {
		for _, t := range record.Defaults.Types {
			if slices.Contains(t.Calls, f) {
				return true
			}
		}
	}
	return false
}

func defaultsOf(u *universe, pkg *model.Package, functions *defaulter.Functions) *Defaults {
	g := &defaultGraph{universe: u, pkg: pkg, functions: functions, recursive: map[*model.Type]bool{},
		insideByHand: map[*model.Type]bool{}}
	g.byHand = model.NewReach(g.called, g.members)
	g.reach = model.NewReach(g.has, g.inner)
	g.findInsideByHand()
	d := &Defaults{Package: pkg, Source: g.source(), Objects: g.objects(), Types: map[*model.Type]*TypeDefaults{}}
	_, byHand := pkg.Declared["RegisterDefaults"]
	d.Generated = !byHand && (pkg.Defaulter || len(d.Objects) > 0)
	d.Registers = d.Generated || pkg.Func("RegisterDefaults") != nil
	for _, t := range d.Objects {
		g.plan(d, t)
	}
	return d
}

// defaultGraph answers, for one package that defaults are written for, which types hold a default somewhere, and which
// contain themselves.
type defaultGraph struct {
	universe  *universe
	pkg       *model.Package
	functions *defaulter.Functions

	reach *model.Reach[*model.Type]
	// byHand tells types that lead to a hand-written function, and insideByHand holds types that stand inside of others
	// which have one: it may set any field of these.
	byHand       *model.Reach[*model.Type]
	insideByHand map[*model.Type]bool
	recursive    map[*model.Type]bool
}

func (g *defaultGraph) plan(d *Defaults, t *model.Type) {
	if d.Types[t] != nil || !g.reach.From(t) {
		return
	}
	own := g.functions.Calls(t, g.pkg)
	plan := &TypeDefaults{Calls: own.Functions, Covers: own.Covers, ContainsItself: t.Name != "" && g.containsItself(t)}
	plan.Method = g.method(t)
	d.Types[t] = plan
	g.checkCalls(&d.Faults, t, own)
	if own.Covers {
		return
	}
	for _, f := range t.Fields {
		if !g.accessible(t, f) {
			continue
		}
		def := f.EffectiveDefault()
		if def == nil && g.fills(f) {
			def = &model.Default{JSON: "{}", Pos: f.Pos}
		}
		if def != nil || g.reach.From(f.Type) && !g.hidden(f) {
			plan.Fields = append(plan.Fields, FieldDefault{
				Field: f, Default: def, IfSent: def == nil && !g.insideByHand[t] && g.mayBeUnsent(f),
				IfEmpty: f.OmitsEmptyList() && g.source().HasCustom(),
			})
		}
	}
	if t.Form == model.Slice || t.Form == model.Array || t.Form == model.Map {
		if def := t.Elem.ElementDefault(); def != nil && !g.reach.From(t.Elem) {
			plan.Element = def // an element with defaults inside gets only these, as defaulter-gen has it
		}
	}
	for _, inner := range g.inner(t) {
		g.plan(d, inner)
	}
}

// checkCalls reports functions that can't be called: of several in other packages it can't be told which one is meant,
// and a package that leads back to this one can't be imported.
func (g *defaultGraph) checkCalls(faults *diag.Errors, t *model.Type, c defaulter.Calls) {
	home := g.pkg
	if t.Package != nil && t.Package.ServedBy != nil {
		home = t.Package.ServedBy
	}
	for _, f := range c.Rivals {
		faults.Add(f.Pos, "%s is in package %s too: which of the two sets the defaults of %s can't be told, so keep "+
			"one of them, or declare func %s(in *%s) in package %s", f.Name, c.RivalOf(f).Package.Path,
			model.TypeText(t), f.Name, model.TypeText(t), home.Path)
	}
	if len(c.Rivals) > 0 {
		return
	}
	for _, f := range c.Functions {
		if way := g.universe.call(g.pkg, f.Package); way != nil {
			faults.Add(f.Pos, "package %s needs the defaults of %s that %s sets, and can't import its package, which "+
				"leads back: %s; declare func %s(in *%s) in package %s, too", g.pkg.Path, model.TypeText(t), f.Name,
				joinWay(way), f.Name, model.TypeText(t), g.pkg.Path)
		}
	}
}

func (g *defaultGraph) source() *model.Package {
	if g.pkg.DefaulterInput != nil {
		return g.pkg.DefaulterInput
	}
	return g.pkg
}

func (g *defaultGraph) objects() []*model.Type {
	field := g.pkg.DefaulterField
	if field == "" {
		field = "TypeMeta"
	}
	asked := g.pkg.Defaulter || g.implied()
	var objects []*model.Type
	for _, t := range g.source().Types {
		if g.wanted(t, field, asked) && g.reach.From(t) {
			objects = append(objects, t)
		}
	}
	slices.SortStableFunc(objects, ByName)
	return objects
}

// implied reports whether a package that has no marker gets defaults: it holds kinds of a served version, and no other
// package writes defaults for it. Nobody asks for functions in packages for clients, or in projects of custom
// resources, which kube-apiserver defaults by their schema.
func (g *defaultGraph) implied() bool {
	if g.pkg.Serves != nil {
		return g.universe.program.RuntimeAvailable
	}
	if !g.universe.program.RuntimeAvailable || !g.pkg.HasGroup || g.pkg.Version == "" || g.pkg.DefaulterInput != nil {
		return false
	}
	return !slices.ContainsFunc(g.universe.program.Packages,
		func(other *model.Package) bool { return other.DefaulterInput == g.pkg })
}

func (g *defaultGraph) wanted(t *model.Type, field string, asked bool) bool {
	if len(t.TypeArgs) > 0 || t.Defaulter == "false" || !token.IsExported(t.Name) {
		return false
	}
	if g.functions.Defaulted(t, g.pkg) || g.pkg.Declares(defaulter.ObjectName(t)) {
		return false
	}
	if g.pkg.Serves != nil && t.Kind == nil && t.ListOf == nil {
		return false
	}
	if t.Defaulter == "true" {
		return true
	}
	return asked && t.Form == model.Struct && model.FieldNamed(t, field) != nil
}

func (g *defaultGraph) has(t *model.Type) bool {
	return g.called(t) || g.hasMarker(t)
}

// called reports whether a hand-written function sets defaults of the type.
func (g *defaultGraph) called(t *model.Type) bool {
	return len(g.functions.Calls(t, g.pkg).Functions) > 0 || g.method(t) != nil
}

// findInsideByHand finds the types inside of those with hand-written functions. A function that defaulter-gen wrote for
// a whole object is none: it calls those that somebody wrote.
func (g *defaultGraph) findInsideByHand() {
	seen := map[*model.Type]bool{}
	var visit func(t *model.Type, inside bool)
	visit = func(t *model.Type, inside bool) {
		if t == nil || g.insideByHand[t] || !inside && seen[t] {
			return
		}
		seen[t] = true
		inside = inside || g.functions.WrittenFor(t, g.pkg) || g.method(t) != nil
		if inside {
			g.insideByHand[t] = true
		}
		for _, inner := range g.members(t) {
			visit(inner, inside)
		}
	}
	for _, t := range g.source().Types {
		visit(t, false)
	}
}

// method is the method that sets the defaults of a kind. Servers call it; a package that none serves is defaulted as
// defaulter-gen does it.
func (g *defaultGraph) method(t *model.Type) *model.Func {
	if !g.universe.program.RuntimeAvailable || len(g.functions.Calls(t, g.pkg).Functions) > 0 {
		return nil
	}
	return contextual.Defaulter(t)
}

func (g *defaultGraph) hasMarker(t *model.Type) bool {
	switch t.Form {
	case model.Struct:
		return slices.ContainsFunc(t.Fields,
			func(f *model.Field) bool { return g.accessible(t, f) && f.EffectiveDefault() != nil })
	case model.Slice, model.Array, model.Map:
		return t.Elem.ElementDefault() != nil
	}
	return false
}

// inner returns the types in which defaults are set.
func (g *defaultGraph) inner(t *model.Type) []*model.Type { return g.innerTypes(t, g.hidden) }

func (g *defaultGraph) members(t *model.Type) []*model.Type {
	return g.innerTypes(t, func(*model.Field) bool { return false })
}

// hidden reports whether markers inside a field mean nothing: its definition has no schema of it.
func (g *defaultGraph) hidden(f *model.Field) bool {
	return f.Schema.Schemaless && g.source().HasCustom() && !g.byHand.From(f.Type)
}

func (g *defaultGraph) innerTypes(t *model.Type, hidden func(*model.Field) bool) []*model.Type {
	if g.functions.Calls(t, g.pkg).Covers {
		return nil
	}
	switch t.Form {
	case model.Pointer, model.Slice, model.Array, model.Map:
		return []*model.Type{t.Elem}
	case model.Struct:
		var types []*model.Type
		for _, field := range t.Fields {
			if g.accessible(t, field) && !hidden(field) {
				types = append(types, field.Type)
			}
		}
		return types
	}
	return nil
}

func (g *defaultGraph) accessible(owner *model.Type, field *model.Field) bool {
	return field.Name != "_" && (field.Exported || owner.Package == g.pkg)
}

func (g *defaultGraph) containsItself(t *model.Type) bool {
	if known, ok := g.recursive[t]; ok {
		return known
	}
	to := model.NewReach(func(inner *model.Type) bool { return inner == t }, g.inner)
	g.recursive[t] = slices.ContainsFunc(g.inner(t), to.From)
	return g.recursive[t]
}

// mayBeUnsent reports whether a field is a struct that an object may lack: a custom resource that lacks it gets no
// defaults inside of it. Hand-written functions get every struct, as those of Kubernetes do.
func (g *defaultGraph) mayBeUnsent(f *model.Field) bool {
	return g.source().HasCustom() && f.Type.Form == model.Struct && !f.Inline && schema.DefaultOf(f) == nil &&
		!g.byHand.From(f.Type)
}

// fills reports whether a server sets an embedded pointer that is nil: on the wire, the fields of its struct are those
// of the outer struct, and some of them have defaults.
func (g *defaultGraph) fills(f *model.Field) bool {
	return g.universe.program.RuntimeAvailable && f.Inline && f.Type.Form == model.Pointer && f.Exported &&
		f.Type.Elem.Form == model.Struct && !g.containsItself(f.Type.Elem) && g.inlinesDefault(f.Type.Elem)
}

func (g *defaultGraph) inlinesDefault(t *model.Type) bool {
	return slices.ContainsFunc(t.Fields, func(f *model.Field) bool {
		return g.accessible(t, f) && (f.EffectiveDefault() != nil || g.fills(f) ||
			f.Inline && f.Type.Form == model.Struct && g.inlinesDefault(f.Type))
	})
}

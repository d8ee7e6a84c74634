package plan

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// defaulters are the hand-written functions of a program that set defaults, by the type.
type defaulters struct {
	base, object, additional map[*model.Type][]*model.Func
	// serving: some package serves kinds of another module.
	serving bool
}

func newDefaulters() *defaulters {
	return &defaulters{
		base:       map[*model.Type][]*model.Func{},
		object:     map[*model.Type][]*model.Func{},
		additional: map[*model.Type][]*model.Func{},
	}
}

func findDefaulters(program *model.Program) *defaulters {
	x := newDefaulters()
	for _, pkg := range program.Packages {
		x.serving = x.serving || pkg.Serves != nil
		for _, f := range pkg.Funcs {
			x.add(f)
		}
		if from := pkg.Serves; from != nil && !slices.Contains(program.Packages, from) {
			for _, f := range from.Funcs {
				x.add(f)
			}
		}
	}
	return x
}

// IsDefaulter reports whether the function has the name and the signature of a SetDefaults_X.
func IsDefaulter(f *model.Func) bool {
	x := newDefaulters()
	x.add(f)
	return len(x.base)+len(x.additional) > 0
}

// add takes in a function with the signature func(*T): SetDefaults_T, SetDefaults_T_More or SetObjectDefaults_T.
func (x *defaulters) add(f *model.Func) {
	if len(f.Params) != 1 || len(f.Results) != 0 || f.Variadic || f.Params[0].Form != model.Pointer {
		return
	}
	t := f.Params[0].Elem
	switch {
	case t == nil || t.Name == "" || t.Package == nil:
	case f.Name == "SetDefaults_"+t.Name:
		x.base[t] = append(x.base[t], f)
	case f.Name == ObjectDefaulter(t):
		x.object[t] = append(x.object[t], f)
	case strings.HasPrefix(f.Name, "SetDefaults_"+t.Name+"_"):
		x.additional[t] = append(x.additional[t], f)
	}
}

// calls are the hand-written functions that default a type, as seen from one package.
type calls struct {
	functions []*model.Func
	// covers: the functions take care of all that is inside the type.
	covers bool
	// rivals are functions for the type in packages that are as near.
	rivals []*model.Func
}

// rivalOf returns a called function that is as near as a rival: the one of its name, or else the last.
func (c calls) rivalOf(rival *model.Func) *model.Func {
	for _, f := range c.functions {
		if f.Name == rival.Name {
			return f
		}
	}
	return c.functions[len(c.functions)-1]
}

// calls returns the functions for the type in the order in which they are called: those of the nearest package.
func (x *defaulters) calls(t *model.Type, pkg *model.Package) calls {
	if t.Name == "" {
		return calls{}
	}
	if object, rivals := x.nearest(x.object[t], t, pkg); len(object) > 0 {
		return calls{functions: object, covers: !knowsNoMarkers(object[0], t), rivals: rivals}
	}
	base, rivals := x.nearest(x.base[t], t, pkg)
	if len(base) > 0 && (t.Defaulter == "covers" || base[0].Covers) {
		return calls{functions: base, covers: true, rivals: rivals}
	}
	additional, others := x.nearest(x.additional[t], t, pkg)
	slices.SortFunc(additional, func(a, b *model.Func) int { return strings.Compare(a.Name, b.Name) })
	return calls{functions: slices.Concat(base, additional), rivals: slices.Concat(rivals, others)}
}

// writtenFor reports whether somebody wrote a function for the type that can be called.
func (x *defaulters) writtenFor(t *model.Type, pkg *model.Package) bool {
	if t.Name == "" {
		return false
	}
	base, _ := x.nearest(x.base[t], t, pkg)
	additional, _ := x.nearest(x.additional[t], t, pkg)
	return len(base)+len(additional) > 0
}

// defaulted reports whether a function that defaults the whole object stands where servers look for it, or, for a
// package where a marker asks for defaults, anywhere.
func (x *defaulters) defaulted(t *model.Type, pkg *model.Package) bool {
	return slices.ContainsFunc(x.object[t], func(f *model.Func) bool {
		place := x.place(f, t, pkg)
		return !knowsNoMarkers(f, t) && (place > elsewhere || place == elsewhere && pkg.Defaulter)
	})
}

// knowsNoMarkers reports whether a function that defaults a whole object leaves out the defaults of markers: where
// another module has custom resources, defaulter-gen wrote it, which doesn't read controller-gen's markers.
func knowsNoMarkers(f *model.Func, t *model.Type) bool { return t.Custom() && !f.Package.Own() }

// The places of functions, the farthest first.
const (
	outOfReach = iota
	elsewhere
	besideType
	homeOfType
	here
)

// place tells how near a function for the type is to a package.
func (x *defaulters) place(f *model.Func, t *model.Type, pkg *model.Package) int {
	switch f.Package {
	case pkg:
		return here
	case t.Package.Home():
		return homeOfType
	case t.Package:
		return besideType
	}
	if pkg.Defaulter || x.shared(f, t) {
		return elsewhere
	}
	return outOfReach
}

// shared reports whether every package of the program may call the function. A type of the user's has its functions
// beside it, and no package is made to import another one's logic behind its back. In a module that serves kinds of
// another one, the functions for types of the other may stand in any package of a version.
func (x *defaulters) shared(f *model.Func, t *model.Type) bool {
	home, types := f.Package, t.Package
	version := home.Serves != nil || home.HasGroup && home.Version != ""
	return x.serving && version && home.Own() && !types.Own()
}

// nearest returns the functions of the package that is nearest, if any can be called, and those of packages that are as
// near.
func (x *defaulters) nearest(functions []*model.Func, t *model.Type, pkg *model.Package) (best, rivals []*model.Func) {
	most := outOfReach
	for _, f := range functions {
		switch place := x.place(f, t, pkg); {
		case place > most:
			best, rivals, most = []*model.Func{f}, nil, place
		case place < most || place == outOfReach:
		case f.Package == best[0].Package:
			best = append(best, f)
		default:
			rivals = append(rivals, f)
		}
	}
	return best, rivals
}

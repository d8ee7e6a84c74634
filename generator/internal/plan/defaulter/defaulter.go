// Package defaulter finds the functions that somebody wrote to set the defaults of types, in a program and in the
// modules that it serves, and says which of them are called. It knows the model.
package defaulter

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// Functions are the hand-written functions of a program that set defaults, by the type.
type Functions struct {
	base, object, additional map[*model.Type][]*model.Func
	// serving: some package serves kinds of another module.
	serving bool
}

func none() *Functions {
	return &Functions{
		base:       map[*model.Type][]*model.Func{},
		object:     map[*model.Type][]*model.Func{},
		additional: map[*model.Type][]*model.Func{},
	}
}

// Find finds the functions of a program.
func Find(program *model.Program) *Functions {
	x := none()
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

// Is reports whether the function has the name and the signature of a SetDefaults_X.
func Is(f *model.Func) bool {
	x := none()
	x.add(f)
	return len(x.base)+len(x.additional) > 0
}

// add takes in a function with the signature func(*T): SetDefaults_T, SetDefaults_T_More or SetObjectDefaults_T.
func (x *Functions) add(f *model.Func) {
	if len(f.Params) != 1 || len(f.Results) != 0 || f.Variadic || f.Params[0].Form != model.Pointer {
		return
	}
	t := f.Params[0].Elem
	switch {
	case t == nil || t.Name == "" || t.Package == nil:
	case f.Name == "SetDefaults_"+t.Name:
		x.base[t] = append(x.base[t], f)
	case f.Name == ObjectName(t):
		x.object[t] = append(x.object[t], f)
	case strings.HasPrefix(f.Name, "SetDefaults_"+t.Name+"_"):
		x.additional[t] = append(x.additional[t], f)
	}
}

// ObjectName is the name of the function that defaults a whole object.
func ObjectName(t *model.Type) string { return "SetObjectDefaults_" + t.Name }

// Calls are the hand-written functions that default a type, as seen from one package.
type Calls struct {
	Functions []*model.Func
	// Covers: the functions take care of all that is inside the type.
	Covers bool
	// Rivals are functions for the type in packages that are as near.
	Rivals []*model.Func
}

// RivalOf returns a called function that is as near as a rival: the one of its name, or else the last.
func (c Calls) RivalOf(rival *model.Func) *model.Func {
	for _, f := range c.Functions {
		if f.Name == rival.Name {
			return f
		}
	}
	return c.Functions[len(c.Functions)-1]
}

// Calls returns the functions for the type in the order in which they are called: those of the nearest package.
func (x *Functions) Calls(t *model.Type, pkg *model.Package) Calls {
	if t.Name == "" {
		return Calls{}
	}
	if object, rivals := x.nearest(x.object[t], t, pkg); len(object) > 0 {
		return Calls{Functions: object, Covers: !knowsNoMarkers(object[0], t), Rivals: rivals}
	}
	base, rivals := x.nearest(x.base[t], t, pkg)
	if len(base) > 0 && (t.Defaulter == "covers" || base[0].Covers) {
		return Calls{Functions: base, Covers: true, Rivals: rivals}
	}
	additional, others := x.nearest(x.additional[t], t, pkg)
	slices.SortFunc(additional, func(a, b *model.Func) int { return strings.Compare(a.Name, b.Name) })
	return Calls{Functions: slices.Concat(base, additional), Rivals: slices.Concat(rivals, others)}
}

// WrittenFor reports whether somebody wrote a function for the type that can be called.
func (x *Functions) WrittenFor(t *model.Type, pkg *model.Package) bool {
	if t.Name == "" {
		return false
	}
	base, _ := x.nearest(x.base[t], t, pkg)
	additional, _ := x.nearest(x.additional[t], t, pkg)
	return len(base)+len(additional) > 0
}

// Defaulted reports whether a function that defaults the whole object stands where servers look for it, or, for a
// package where a marker asks for defaults, anywhere.
func (x *Functions) Defaulted(t *model.Type, pkg *model.Package) bool {
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
func (x *Functions) place(f *model.Func, t *model.Type, pkg *model.Package) int {
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
func (x *Functions) shared(f *model.Func, t *model.Type) bool {
	home, types := f.Package, t.Package
	version := home.Serves != nil || home.HasGroup && home.Version != ""
	return x.serving && version && home.Own() && !types.Own()
}

// nearest returns the functions of the package that is nearest, if any can be called, and those of packages that are as
// near.
func (x *Functions) nearest(functions []*model.Func, t *model.Type, pkg *model.Package) (best, rivals []*model.Func) {
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

package plan

import (
	"slices"
	"strings"

	"apigen.dev/generator/model"
)

type defaulters struct {
	base, object, additional map[*model.Type][]*model.Func
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

// IsDefaulter tells whether the function has the name and the signature of a SetDefaults_X.
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
	case t == nil || t.Name == "":
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
}

// calls returns the functions for the type in the order in which they are called. Those of the package itself win over
// those that the type's own package has, and these over anybody else's.
func (x *defaulters) calls(t *model.Type, pkg *model.Package) calls {
	if t.Name == "" {
		return calls{}
	}
	if object := nearest(x.object[t], t, pkg); len(object) > 0 {
		return calls{functions: object[:1], covers: true}
	}
	base := nearest(x.base[t], t, pkg)
	if len(base) > 0 {
		base = base[:1]
		if t.Defaulter == "covers" || base[0].Covers {
			return calls{functions: base, covers: true}
		}
	}
	additional := slices.SortedFunc(slices.Values(nearest(x.additional[t], t, pkg)),
		func(a, b *model.Func) int { return strings.Compare(a.Name, b.Name) })
	return calls{functions: slices.Concat(base, additional)}
}

// rival is a function of the same name for the type in another package that is as near as the one that is called, or
// nil.
func (x *defaulters) rival(called *model.Func, t *model.Type, pkg *model.Package) *model.Func {
	if called.Package == pkg || called.Package == t.Package {
		return nil
	}
	for _, f := range slices.Concat(x.object[t], x.base[t]) {
		if f.Name == called.Name && f.Package != called.Package {
			return f
		}
	}
	return nil
}

// nearest keeps the functions of the one package that is nearest. Those of third packages count only where a marker
// asks for defaults: a package of types is not made to import one of logic behind its back.
func nearest(functions []*model.Func, t *model.Type, pkg *model.Package) []*model.Func {
	var best []*model.Func
	rank := 0
	for _, f := range functions {
		r := 1
		switch f.Package {
		case pkg:
			r = 3
		case t.Package:
			r = 2
		}
		switch {
		case r == 1 && !pkg.Defaulter:
		case r > rank:
			best, rank = []*model.Func{f}, r
		case f.Package == best[0].Package:
			best = append(best, f)
		}
	}
	return best
}

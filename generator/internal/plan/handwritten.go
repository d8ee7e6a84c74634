package plan

import (
	"maps"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

const (
	runtimePath    = "k8s.io/apimachinery/pkg/runtime"
	conversionPath = "k8s.io/apimachinery/pkg/conversion"
	metaPath       = "k8s.io/apimachinery/pkg/apis/meta/v1"
	fieldPath      = "k8s.io/apimachinery/pkg/util/validation/field"
)

// Converter is a hand-written function that converts one pair.
type Converter struct {
	Func
	Pair Pair
	// Drop: nothing is to be converted here. CopyOnly: it only assigns, so that an assignment may take its place.
	Drop, CopyOnly bool
}

type functions struct {
	// near are those of the package, its peers and the package of its external types. They win over everything.
	near map[string]*Converter
	// far are those of other packages, for types of theirs.
	far map[string]*Converter
	// rivals are other functions for pairs that far has one for, between packages that serve other modules' kinds.
	rivals map[string][]*Converter
	// own are those of the package itself, by name: they are registered.
	own []*Converter
	// misnamed are functions that look like conversions but can't be called as such, by name.
	misnamed map[string]*model.Func
}

func findFunctions(u *universe, pkg *model.Package, near []*model.Package) functions {
	f := functions{near: map[string]*Converter{}, far: map[string]*Converter{}, rivals: map[string][]*Converter{},
		misnamed: map[string]*model.Func{}}
	seen := map[string]bool{}
	for _, p := range near {
		if seen[p.Path] {
			continue
		}
		seen[p.Path] = true
		f.scan(p, f.near, func(found *Converter) bool {
			if p == pkg {
				f.own = append(f.own, found)
			}
			return true
		})
	}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(u.packages)), func(path string) bool {
		return seen[path] || isBase(path) || u.reaches(u.packages[path], pkg)
	})
	for _, wanted := range []func(Pair, *model.Package) bool{
		concerns,
		func(pair Pair, p *model.Package) bool { return !concerns(pair, p) && lends(pair, pkg, p) },
	} {
		far := map[string]*Converter{}
		for _, path := range others {
			p := u.packages[path]
			f.scan(p, far, func(found *Converter) bool {
				key := found.Pair.Key()
				if !wanted(found.Pair, p) || f.far[key] != nil {
					return false
				}
				if far[key] != nil && lends(found.Pair, pkg, p) {
					f.rivals[key] = append(f.rivals[key], found)
				}
				return true
			})
		}
		maps.Copy(f.far, far)
	}
	return f
}

func (f *functions) scan(p *model.Package, into map[string]*Converter, want func(*Converter) bool) {
	for _, fn := range p.Funcs {
		found := asConversion(fn)
		if found == nil {
			if strings.HasPrefix(fn.Name, "Convert_") && f.misnamed[fn.Name] == nil {
				f.misnamed[fn.Name] = fn
			}
			continue
		}
		found.Path = p.Path
		if key := found.Pair.Key(); want(found) && into[key] == nil {
			into[key] = found
		}
	}
}

func asConversion(fn *model.Func) *Converter {
	if !IsConversion(fn) {
		return nil
	}
	p := Pair{fn.Params[0].Elem, fn.Params[1].Elem}
	if fn.Name != p.Function() {
		return nil
	}
	return &Converter{Func{Name: fn.Name}, p, fn.ConversionFn == "drop", fn.ConversionFn == "copy-only"}
}

// IsConversion reports whether the signature is a conversion's.
func IsConversion(fn *model.Func) bool {
	return !fn.Variadic && len(fn.Params) == 3 && len(fn.Results) == 1 && model.IsError(fn.Results[0]) &&
		model.IsNamed(fn.Params[2], conversionPath, "Scope") && isPointer(fn.Params[0]) && isPointer(fn.Params[1])
}

func isPointer(t *model.Type) bool { return t.Form == model.Pointer && t.Package == nil }

// concerns reports whether the pair is the package's business, so that its function may be called from elsewhere.
func concerns(p Pair, pkg *model.Package) bool {
	var of func(t *model.Type) bool
	of = func(t *model.Type) bool {
		switch {
		case t == nil:
			return false
		case t.Package == nil: // a pointer to, or a list or map of, the package's types
			return of(t.Elem) || of(t.Key)
		}
		path := t.Package.Path
		if path == pkg.Path || pkg.ConversionExternal != nil && path == pkg.ConversionExternal.Path {
			return true
		}
		return slices.Contains(pkg.ConversionPeers, path)
	}
	return of(p.In) || of(p.Out)
}

func (f *functions) find(p Pair) *Converter {
	key := p.Key()
	if fn := f.near[key]; fn != nil {
		return fn
	}
	if model.Identical(p.In, p.Out) {
		return nil
	}
	return f.far[key]
}

// blocks reports whether values of the pair must not be copied as memory, because a function stands for either
// direction.
func (f *functions) blocks(p Pair) bool {
	for _, d := range []Pair{p, p.Reverse()} {
		if fn := f.find(d); fn != nil && !fn.CopyOnly {
			return true
		}
	}
	return false
}

// isBase tells apimachinery's packages whose functions are consulted last.
func isBase(path string) bool {
	return path == conversionPath || path == runtimePath || path == metaPath
}

// base are pairs of types that have nothing in common, by the package of apimachinery with the function that converts
// them. They are the same in every program, so they are known without having been loaded.
var base = map[string]string{
	"[]string -> string":  runtimePath,
	"[]string -> int":     runtimePath,
	"[]string -> bool":    runtimePath,
	"[]string -> *bool":   runtimePath,
	"[]string -> int64":   runtimePath,
	"[]string -> *int64":  runtimePath,
	"string -> int64":     runtimePath,
	"string -> *int64":    runtimePath,
	"[]string -> []int32": metaPath,

	"[]string -> " + metaPath + ".Time":                         metaPath,
	"[]string -> *" + metaPath + ".Time":                        metaPath,
	"[]string -> *" + metaPath + ".DeletionPropagation":         metaPath,
	"[]string -> " + metaPath + ".IncludeObjectPolicy":          metaPath,
	"[]string -> " + metaPath + ".ResourceVersionMatch":         metaPath,
	"map[string]string -> " + metaPath + ".LabelSelector":       metaPath,
	metaPath + ".LabelSelector -> map[string]string":            metaPath,
	"string -> k8s.io/apimachinery/pkg/labels.Selector":         metaPath,
	"string -> k8s.io/apimachinery/pkg/fields.Selector":         metaPath,
	"k8s.io/apimachinery/pkg/labels.Selector -> string":         metaPath,
	"k8s.io/apimachinery/pkg/fields.Selector -> string":         metaPath,
	runtimePath + ".Object -> " + runtimePath + ".RawExtension": runtimePath,
	runtimePath + ".RawExtension -> " + runtimePath + ".Object": runtimePath,
}

func baseConverter(p Pair) *Converter {
	if path := base[p.Key()]; path != "" {
		return &Converter{Func: Func{path, p.Function()}, Pair: p}
	}
	return nil
}

// isTypeMeta: apiVersion and kind say what an object was decoded from. The scheme sets them after a conversion, and
// conversions leave them alone.
func isTypeMeta(t *model.Type) bool {
	return model.IsNamed(t, metaPath, "TypeMeta")
}

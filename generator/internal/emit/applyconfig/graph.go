package applyconfig

import (
	"reflect"
	"slices"

	"apigen.dev/generator/internal/emit/layout"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/clientset"
)

const (
	metaPath    = "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimePath = "k8s.io/apimachinery/pkg/runtime"
)

// meta are the types of apimachinery's metadata of which client-go has apply configurations.
var meta = map[string]bool{
	"Condition": true, "DeleteOptions": true, "LabelSelector": true, "LabelSelectorRequirement": true,
	"ManagedFieldsEntry": true, "ObjectMeta": true, "OwnerReference": true, "TypeMeta": true,
}

type graph struct {
	set *clientset.Set
	// types are those that get one here, sorted by name.
	types map[*clientset.Version][]*model.Type
	// own holds the same types.
	own map[*model.Type]*clientset.Version
}

func newGraph(s *clientset.Set) *graph {
	g := &graph{set: s, types: map[*clientset.Version][]*model.Type{}, own: map[*model.Type]*clientset.Version{}}
	reached := map[*model.Type]bool{}
	versions := map[*model.Package]*clientset.Version{}
	for _, v := range s.Versions() {
		versions[v.Package] = v
		for _, k := range v.Applied() {
			reach(k.Type, reached)
		}
	}
	for _, v := range s.Versions() {
		for _, k := range v.Kinds {
			for _, m := range k.Methods {
				if m.Verb == "apply" {
					reach(lookup(s, m.Input), reached)
				}
			}
		}
	}
	for t := range reached {
		if v := versions[t.Package]; v != nil && configurable(t) {
			g.own[t] = v
			g.types[v] = append(g.types[v], t)
		}
	}
	for _, types := range g.types {
		slices.SortFunc(types, plan.ByName)
	}
	return g
}

// lookup finds a type that a marker names among the set's; nil if it is another's.
func lookup(s *clientset.Set, ref model.Ref) *model.Type {
	for _, v := range s.Versions() {
		if v.Package.Path == ref.Path {
			return v.Package.Type(ref.Name)
		}
	}
	return nil
}

func reach(t *model.Type, reached map[*model.Type]bool) {
	if t == nil || reached[t] {
		return
	}
	reached[t] = true
	reach(t.Elem, reached)
	reach(t.Key, reached)
	for _, f := range t.Fields {
		reach(f.Type, reached)
	}
}

// configurable reports whether a type has an apply configuration: a named struct with fields that have names on the
// wire.
func configurable(t *model.Type) bool {
	if t.Form != model.Struct || t.Name == "" || len(t.TypeArgs) > 0 {
		return false
	}
	if t.Package.Path == runtimePath && (t.Name == "RawExtension" || t.Name == "Unknown") {
		return false
	}
	return slices.ContainsFunc(t.Fields, written)
}

func written(f *model.Field) bool {
	_, tagged := reflect.StructTag(f.Tag).Lookup("json")
	return tagged && !f.Ignored
}

// home is the package with a type's apply configuration, and the name to import it under; empty if there is none.
func (g *graph) home(t *model.Type) (path, alias string) {
	if t.Name == "" || t.Package == nil || t.Form != model.Struct {
		return "", ""
	}
	if v := g.own[t]; v != nil {
		return v.ApplyPath, v.ApplyAlias()
	}
	if t.Package.Path == metaPath && meta[t.Name] {
		return layout.ApplyMeta, "applymetav1"
	}
	if external := g.set.External[t.Package.Path]; external != "" && configurable(t) {
		return external, ""
	}
	return "", ""
}

func (g *graph) has(t *model.Type) bool {
	path, _ := g.home(deref(t))
	return path != ""
}

func deref(t *model.Type) *model.Type {
	for range 8 {
		if t.Form != model.Pointer || t.Name != "" {
			break
		}
		t = t.Elem
	}
	return t
}

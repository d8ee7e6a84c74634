package roundtrip

import (
	"sort"
	"strings"

	"apigen.dev/generator/model"
)

// named are the types with constants that the types lead to, by package and name.
func named(types []*model.Type) []*model.Type {
	seen := map[*model.Type]bool{}
	var out []*model.Type
	var visit func(t *model.Type)
	visit = func(t *model.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		if t.Form == model.Basic && t.Package != nil {
			out = append(out, t)
		}
		visit(t.Elem)
		visit(t.Key)
		for _, f := range t.Fields {
			if !f.Ignored {
				visit(f.Type)
			}
		}
	}
	for _, t := range types {
		visit(t)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Package.Path != out[j].Package.Path {
			return out[i].Package.Path < out[j].Package.Path
		}
		return out[i].Name < out[j].Name
	})
	return out
}

func constants(t *model.Type) []*model.Const {
	var out []*model.Const
	for _, c := range t.Package.Consts {
		if c.Type == t && !c.Excluded && exported(c.Name) {
			out = append(out, c)
		}
	}
	return out
}

func exported(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

func reachable(t *model.Type, path string) bool {
	if !exported(t.Name) {
		return false
	}
	parent, _, internal := strings.Cut(t.Package.Path+"/", "/internal/")
	return !internal || strings.HasPrefix(path+"/", parent+"/")
}

package resolve

import (
	"go/types"
	"iter"
	"slices"

	"apigen.dev/generator/internal/model"
)

// payload finds a kind's name on the wire, and its types in the versions of the resource.
func (b *subresourceBuilder) payload(s *model.Subresource, p *model.Payload) bool {
	g, r := b.group, b.resource
	t := p.Hub
	if t.Kind == nil {
		b.errorf(s.Method.Pos, "%s, which the subresource %s takes or answers, is no kind: it needs TypeMeta and "+
			"ObjectMeta embedded, and DeepCopyObject", t.Name, s.Name)
		return false
	}
	p.Kind = t.Name
	if group, ok := b.groupOf(t.Package); ok && t.Package.Version != "" {
		p.Group, p.Versions = group, []model.PayloadVersion{{Name: t.Package.Version, Type: t}}
		return t.Package != r.Hub.Package || b.payloadVersions(s, p)
	}
	if t.Package != g.Internal || g.Internal == nil {
		b.errorf(s.Method.Pos, "%s, which the subresource %s takes or answers, belongs to no version of a group: "+
			"package %s needs +groupName and the name of a version", t.Name, s.Name, t.Package.Path)
		return false
	}
	p.Group = g.Name
	return b.payloadVersions(s, p)
}

// payloadVersions finds the types of a kind in the versions of the resource. Where the hub is a version itself, the
// others need not have the kind: then it has the hub's version in all of them.
func (b *subresourceBuilder) payloadVersions(s *model.Subresource, p *model.Payload) bool {
	var versions []model.PayloadVersion
	var without []string
	for _, rv := range b.resource.Versions {
		if v := rv.Type.Package.Type(p.Hub.Name); v != nil && v.Kind != nil {
			versions = append(versions, model.PayloadVersion{Name: rv.Version.Name, Type: v})
		} else {
			without = append(without, rv.Version.Name)
		}
	}
	if len(p.Versions) == 1 && len(versions) == 1 {
		return true // the hub's
	}
	for _, version := range without {
		b.errorf(s.Method.Pos, "%s, which the subresource %s takes or answers, is not declared in version %s, "+
			"which has %s", p.Hub.Name, s.Name, version, b.resource.Kind)
	}
	p.Versions = versions
	return len(without) == 0
}

// groupOf returns the group that a package of types belongs to: by its marker, or by the constant GroupName where a
// dependency, as policy/v1 in k8s.io/api, has none.
func (f *faults) groupOf(p *model.Package) (string, bool) {
	if p.HasGroup {
		return p.Group, true
	}
	return f.groupConstant(p.Path)
}

// payloads returns the names of the kinds of a group that its subresources take or answer. They are no resources of
// their own, unless a marker says how they are served.
func payloads(pkgs []*model.Package, group string) map[string]bool {
	methods, served, taken := map[string][]string{}, map[string]bool{}, map[string]bool{}
	var types []*model.Type
	for _, p := range pkgs {
		if p = p.Source(); !p.HasGroup || p.Group != group {
			continue
		}
		types = append(types, p.Types...)
		for _, t := range p.Types {
			if t.Kind == nil {
				continue
			}
			served[t.Name] = served[t.Name] || t.Kind.Served || len(t.Kind.Subresources) > 0
			for _, s := range t.Kind.Subresources {
				methods[t.Name] = append(methods[t.Name], s.Name)
			}
		}
	}
	for _, t := range types {
		for _, name := range methods[t.Name] {
			for x := range pointedTo(subresourceMethod(t, name)) {
				if !served[x.Name] && x.Package.HasGroup && x.Package.Group == group {
					taken[x.Name] = true
				}
			}
		}
	}
	return taken
}

// pointedTo returns the structs that parameters and results of a function point to; none if it is nil.
func pointedTo(f *model.Func) iter.Seq[*model.Type] {
	return func(yield func(*model.Type) bool) {
		if f == nil {
			return
		}
		for _, x := range slices.Concat(f.Params, f.Results) {
			if isStructPointer(x) && !yield(x.Elem) {
				return
			}
		}
	}
}

// payloadTypes reads the fields of the structs that the parameters and results of a method point to.
func (b *typeBuilder) payloadTypes(f *types.Func) {
	sig := f.Signature()
	for _, tuple := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range tuple.Variables() {
			p, ok := types.Unalias(v.Type()).(*types.Pointer)
			if !ok {
				continue
			}
			n, ok := types.Unalias(p.Elem()).(*types.Named)
			if ok && n.Obj().Pkg() != nil && form(n.Underlying()) == model.Struct {
				b.typ(n)
			}
		}
	}
}

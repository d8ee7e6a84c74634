package resolve

import (
	"path"
	"slices"
	"strings"

	"apigen.dev/generator/model"
)

// clientGroups returns the groups that a marker of clients collects: those of the program, and, as client-gen has it,
// packages of versions without +groupName, whose group is their constant GroupName, or the folder above. Only clients
// know the latter: what is served needs the marker.
func (b *clientBuilder) clientGroups(prog *model.Program, p *model.Package) []*model.Group {
	var out []*model.Group
	for _, g := range prog.Groups {
		if below(g, p) {
			out = append(out, g)
		}
	}
	byName := map[string]*model.Group{}
	for _, v := range prog.Packages {
		if v.HasGroup || v.Version == "" || !v.Below(p.Path) || !hasClients(v) {
			continue
		}
		name := b.unmarkedGroup(v)
		g := byName[name]
		if g == nil {
			g = &model.Group{Name: name, GoName: model.GroupGoName(name)}
			byName[name] = g
			out = append(out, g)
		}
		b.addVersion(g, v, kinds(v))
	}
	for _, g := range byName {
		b.finish(g)
		g.Wiring = nil
	}
	slices.SortFunc(out, func(x, y *model.Group) int { return strings.Compare(x.Name, y.Name) })
	return out
}

func hasClients(p *model.Package) bool {
	return slices.ContainsFunc(kinds(p), func(t *model.Type) bool { return t.Kind.Client != nil })
}

// unmarkedGroup returns the group of a package without +groupName.
func (b *clientBuilder) unmarkedGroup(p *model.Package) string {
	if name, ok := b.groupConstant(p.Path); ok {
		return name
	}
	return path.Base(path.Dir(p.Path))
}

// below reports whether a version of the group with clients lies in or below a package's folder.
func below(g *model.Group, p *model.Package) bool {
	return slices.ContainsFunc(g.Versions, func(v *model.Version) bool {
		return v.Package.Below(p.Path) &&
			hasClients(v.Package)
	})
}

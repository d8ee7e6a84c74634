package resolve

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// groupBuilder puts packages together to API groups, and their kinds to resources.
type groupBuilder struct {
	*faults
	packages []*model.Package
	// runtime reports whether wiring is generated.
	runtime bool
}

func (b *groupBuilder) groups() []*model.Group {
	pkgs := b.packages
	byName, split := map[string]*model.Group{}, b.split()
	var out []*model.Group
	for _, p := range pkgs {
		if p.ServedBy != nil {
			continue // it comes with the package that serves it
		}
		p = p.Source()
		if !p.HasGroup || p.Version == "" || len(resourceKinds(p, pkgs)) == 0 {
			continue
		}
		key := p.Group
		if split[p.Group] {
			key += " " + path.Dir(p.Path)
		}
		if byName[key] == nil {
			byName[key] = &model.Group{Name: p.Group, GoName: model.GroupGoName(p.Group)}
			out = append(out, byName[key])
		}
		b.addVersion(byName[key], p, resourceKinds(p, pkgs))
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	homes := map[string]bool{}
	for _, g := range out {
		b.finish(g)
	}
	b.linkSame(out)
	for _, g := range out {
		for _, r := range g.Resources {
			(&subresourceBuilder{b.faults, g, r}).subresources()
		}
		if w := g.Wiring; w != nil {
			if homes[w.Path] {
				w.Name = strings.ToLower(g.GoName)
				w.Path, w.Dir = w.Path+"/"+w.Name, filepath.Join(w.Dir, w.Name)
			}
			homes[w.Path] = true
		}
	}
	return out
}

// split returns the groups that have packages of one version in several folders. Each folder is then a group of its
// own, unless wiring or clients are generated, which are of all packages of a group.
func (b *groupBuilder) split() map[string]bool {
	out, seen := map[string]bool{}, map[string]string{}
	if b.runtime || slices.ContainsFunc(b.packages, func(p *model.Package) bool { return p.Clients }) {
		return out
	}
	for _, p := range b.packages {
		if !p.HasGroup || p.Version == "" || p.ServedBy != nil {
			continue
		}
		version, dir := p.Group+"/"+p.Version, path.Dir(p.Path)
		if other, ok := seen[version]; ok && other != dir {
			out[p.Group] = true
		}
		seen[version] = dir
	}
	return out
}

// kinds returns the kinds of a package, by position; those of the package that holds its types, where another does.
func kinds(p *model.Package) []*model.Type {
	return slices.DeleteFunc(slices.Clone(p.Types), func(t *model.Type) bool { return t.Kind == nil })
}

// resourceKinds returns the kinds of a version that are resources: all but those that only subresources take or answer.
// For a package of another module it returns those that are served.
func resourceKinds(p *model.Package, pkgs []*model.Package) []*model.Type {
	if p.ServedBy != nil {
		return slices.DeleteFunc(kinds(p), func(t *model.Type) bool { return !t.Kind.Served })
	}
	taken := payloads(pkgs, p.Group)
	return slices.DeleteFunc(kinds(p), func(t *model.Type) bool { return taken[t.Name] })
}

// addVersion adds a package to its version, which may have others.
func (b *groupBuilder) addVersion(g *model.Group, p *model.Package, kinds []*model.Type) {
	b.leaveOut(p, kinds)
	i := slices.IndexFunc(g.Versions, func(v *model.Version) bool { return v.Name == p.Version })
	if i < 0 {
		g.Versions = append(g.Versions, &model.Version{Name: p.Version, Packages: []*model.Package{p}, Kinds: kinds})
		return
	}
	v := g.Versions[i]
	for _, t := range kinds {
		if other := typeNamed(v.Kinds, t.Name); other != nil {
			b.declaredTwice(g, v, other, t)
			continue
		}
		v.Kinds = append(v.Kinds, t)
	}
	v.Packages = append(v.Packages, p)
}

func typeNamed(types []*model.Type, name string) *model.Type {
	if i := slices.IndexFunc(types, func(t *model.Type) bool { return t.Name == name }); i >= 0 {
		return types[i]
	}
	return nil
}

// declaredTwice reports a kind that two packages of one version declare. Types that move may leave aliases behind,
// which declare no kinds.
func (b *groupBuilder) declaredTwice(g *model.Group, v *model.Version, one, other *model.Type) {
	remedy := "keep one of them (type %[1]s = other.%[1]s, left behind, keeps importers compiling), or take " +
		"+groupName off the package that is not served"
	if one.Package.ServedBy != nil && other.Package.ServedBy != nil {
		remedy = "leave %[1]s out of the kinds that +apigen:serve names of one of them"
	}
	for _, t := range []*model.Type{one, other} {
		pos := t.Pos
		if t.Package.ServedBy != nil {
			pos = t.Package.ServedBy.Pos
		}
		b.errorf(pos, "kind %[1]s of group %[2]q is declared twice in version %[3]s, by the packages %[4]s and %[5]s: "+
			remedy, t.Name, g.Name, v.Name, one.Package.Path, other.Package.Path)
	}
}

func (b *groupBuilder) finish(g *model.Group) {
	named := ""
	slices.SortFunc(g.Versions, func(x, y *model.Version) int { return model.CompareVersions(x.Name, y.Name) })
	for _, p := range g.Packages() {
		switch name := p.GroupGoName; {
		case name == "":
		case named == "":
			named, g.GoName = name, name
		case name != named:
			b.marked(p, diag.Errors{{Pos: p.GroupGoNamePos, Message: fmt.Sprintf(
				"marker \"+groupGoName\": group %q is %s here, and %s in another package: call it alike", g.Name,
				name, named)}})
		}
	}
	g.Internal = internal(g, b.packages)
	g.Wiring = wiring(g)
	byKind := map[string]*model.Resource{}
	for _, v := range g.Versions {
		for _, t := range v.Kinds {
			if byKind[t.Name] == nil {
				byKind[t.Name] = &model.Resource{Kind: t.Name}
				g.Resources = append(g.Resources, byKind[t.Name])
			}
			r := byKind[t.Name]
			r.Versions = append(r.Versions, model.ResourceVersion{Version: v, Type: t})
		}
	}
	b.unversioned(g, byKind)
	b.otherHubs(g)
	plurals := map[string]*model.Resource{}
	for _, r := range g.Resources {
		b.resource(g, r)
		if other := plurals[r.Plural]; other != nil {
			b.errorf(r.Versions[0].Type.Pos, "the kinds %s and %s of group %q would both be served as %q: name one "+
				"with +kubebuilder:resource:path=", other.Kind, r.Kind, g.Name, r.Plural)
		}
		plurals[r.Plural] = r
	}
	sort.Slice(g.Resources, func(i, j int) bool { return g.Resources[i].Plural < g.Resources[j].Plural })
	b.prefer(g)
}

// unversioned warns of kinds of the user's hub that no version of a served group has: clients can't ask for them.
func (b *groupBuilder) unversioned(g *model.Group, known map[string]*model.Resource) {
	if g.Internal == nil || !g.Internal.Output || !b.runtime {
		return
	}
	taken := payloads(b.packages, g.Name)
	for _, t := range kinds(g.Internal) {
		if known[t.Name] == nil && !taken[t.Name] {
			b.warnf(t.Pos, "kind %s of the hub is in no version of group %q, so it isn't served: declare it in a "+
				"version's package, or remove it", t.Name, g.Name)
		}
	}
}

// otherHubs warns of packages that would be a hub, too, if the group had none.
func (b *groupBuilder) otherHubs(g *model.Group) {
	if g.Internal == nil || !b.runtime {
		return
	}
	told := map[*model.Package]bool{g.Internal: true}
	for _, p := range g.Packages() {
		home := p.Home()
		for _, q := range b.packages {
			named := slices.Contains(home.ConversionPeers, q.Path) || q.Path == path.Dir(home.Path)
			ofGroup := q.Version == "" && q.HasGroup && q.Group == g.Name
			if told[q] || !named || !ofGroup || len(kinds(q)) == 0 {
				continue
			}
			told[q] = true
			b.warnf(q.Pos, "package %s has kinds of group %q and no version, as a hub has, and the hub is %s: move "+
				"the kinds there, since a group has one hub", q.Path, g.Name, g.Internal.Path)
		}
	}
}

// internal returns the hub: the package that a version's conversions name, or the parent of a version, as long as it is
// of the group and no version itself.
func internal(g *model.Group, pkgs []*model.Package) *model.Package {
	candidate := func(importPaths ...string) *model.Package {
		for _, importPath := range importPaths {
			for _, p := range pkgs {
				if p.Path == importPath && p.Version == "" && p.HasGroup && p.Group == g.Name && len(p.Types) > 0 {
					return p
				}
			}
		}
		return nil
	}
	for _, p := range pkgs {
		if p.HasGroup && p.Group == g.Name && p.Version != "" {
			if c := candidate(p.ConversionPeers...); c != nil {
				return c
			}
		}
	}
	for _, p := range g.Packages() {
		home := p.Home()
		if c := candidate(home.ConversionPeers...); c != nil {
			return c
		}
		if c := candidate(path.Dir(home.Path)); c != nil && len(kinds(c)) > 0 {
			return c
		}
	}
	return nil
}

// wiring returns the package beside the versions that wiring goes into; nil if the user owns none of them. If the
// first of them is several packages in several folders, it is beside those.
func wiring(g *model.Group) *model.WiringPackage {
	for _, v := range g.Versions {
		own := slices.DeleteFunc(homes(v.Packages), func(p *model.Package) bool { return !p.Own() })
		if len(own) == 0 {
			continue
		}
		parent, dir := wiringFolder(own[0])
		elsewhere := func(p *model.Package) bool {
			other, _ := wiringFolder(p)
			return !strings.HasPrefix(other+"/", parent+"/")
		}
		for dir != own[0].Module.Dir && slices.ContainsFunc(own, elsewhere) {
			parent, dir = path.Dir(parent), filepath.Dir(dir)
		}
		return &model.WiringPackage{
			Path: path.Join(parent, "wiring"), Name: "wiring", Dir: filepath.Join(dir, "wiring"),
		}
	}
	return nil
}

func homes(packages []*model.Package) []*model.Package {
	var out []*model.Package
	for _, p := range packages {
		out = append(out, p.Home())
	}
	return out
}

// wiringFolder returns the import path and the folder that the wiring of a package goes below.
func wiringFolder(p *model.Package) (importPath, dir string) {
	if p.Dir == p.Module.Dir || p.Serves != nil && !model.IsVersion(path.Base(p.Path)) {
		return p.Path, p.Dir
	}
	return path.Dir(p.Path), filepath.Dir(p.Dir)
}

// plural returns the name of a resource without a marker for it, as the tool that the kind is marked for forms it.
func plural(r *model.Resource) string {
	if slices.ContainsFunc(r.Versions, func(v model.ResourceVersion) bool { return v.Type.Kind.Kubebuilder }) {
		return model.KubebuilderPlural(r.Kind)
	}
	return model.Plural(r.Kind)
}

func (b *groupBuilder) resource(g *model.Group, r *model.Resource) {
	r.Status = true
	var pluralBy, storageBy *model.Type
	for i, rv := range r.Versions {
		k := rv.Type.Kind
		r.Status = r.Status && k.HasStatus
		if k.Plural != "" {
			if pluralBy != nil && k.Plural != r.Plural {
				b.errorf(rv.Type.Pos, "kind %s is served as %q here, but as %q in %s", r.Kind, k.Plural, r.Plural,
					pluralBy.Package.Path)
			}
			r.Plural, pluralBy = k.Plural, rv.Type
		}
		r.Singular = cmp.Or(r.Singular, k.Singular)
		if r.ListKind == "" && k.ListType != nil {
			r.ListKind = k.ListType.Name
		}
		r.ShortNames, r.Categories = union(r.ShortNames, k.ShortNames), union(r.Categories, k.Categories)
		if i > 0 && k.ClusterScoped != r.ClusterScoped {
			b.errorf(rv.Type.Pos, "kind %s is %s here, but %s in %s: mark it alike in all versions "+
				"(+genclient:nonNamespaced or +kubebuilder:resource:scope=Cluster)",
				r.Kind, scopeName(k.ClusterScoped), scopeName(r.ClusterScoped), r.Versions[0].Type.Package.Path)
		} else {
			r.ClusterScoped = k.ClusterScoped
		}
		if k.StorageVersion {
			if storageBy != nil {
				b.fault(rv.Type.Package, rv.Type.Pos, "kind %s has two storage versions, %s and %s: mark one with "+
					"+kubebuilder:storageversion", r.Kind, storageBy.Package.Version, rv.Version.Name)
				continue
			}
			storageBy, r.Storage = rv.Type, rv.Version
		}
	}
	r.Storage = cmp.Or(r.Storage, r.Versions[0].Version)
	r.Plural = cmp.Or(r.Plural, plural(r))
	r.Singular = cmp.Or(r.Singular, strings.ToLower(r.Kind))
	r.ListKind = cmp.Or(r.ListKind, r.Kind+"List")
	r.Hub = hub(g, r)
	b.verbs(r)
	b.resolveStoragePrefix(r)
}

func hub(g *model.Group, r *model.Resource) *model.Type {
	if g.Internal != nil {
		if t := g.Internal.Type(r.Kind); t != nil && t.Form == model.Struct {
			return t
		}
	}
	i := slices.IndexFunc(r.Versions, func(rv model.ResourceVersion) bool { return rv.Version == r.Storage })
	return r.Versions[max(i, 0)].Type
}

func scopeName(cluster bool) string {
	if cluster {
		return "cluster scoped"
	}
	return "namespaced"
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

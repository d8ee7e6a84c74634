package resolve

import (
	"cmp"
	"go/constant"
	"go/types"
	"path"
	"slices"
	"strings"

	"apigen.dev/generator/internal/marker"
	"apigen.dev/generator/internal/model"
)

// serveBuilder resolves the packages that markers of packages name, those of other modules that are served among them.
type serveBuilder struct{ *typeBuilder }

// resolve resolves the packages that markers of a root name.
func (b *serveBuilder) resolve(m *model.Package) {
	ms := b.u.Root(m.Path).Markers()
	for _, peer := range ms.Asking(marker.Peer) {
		missing := func(path string) bool { return path == peer.Value }
		if !slices.ContainsFunc(m.ConversionPeers, missing) {
			continue // it says true or false
		}
		if p := b.named(m, peer); p != nil {
			m.Peers = append(m.Peers, p)
		} else {
			m.ConversionPeers = slices.DeleteFunc(m.ConversionPeers, missing)
		}
	}
	for _, x := range ms.Asking(marker.ExternalTypes) {
		m.ConversionExternal = b.named(m, x)
	}
	for _, x := range ms.Asking(marker.DefaulterInput) {
		m.DefaulterInput = b.named(m, x)
	}
	b.serve(m, ms)
}

// named returns the package that a marker of other generators names; nil, and a fault, if there is none: projects
// keep such markers after the package was removed.
func (b *serveBuilder) named(m *model.Package, x marker.Marker) *model.Package {
	p, err := b.whole(x.Value)
	if err != nil {
		b.fault(m, x.Pos, "package %s of marker \"+%s\" can't be loaded: %v", x.Value, x.Name, err)
	}
	return p
}

// serve takes in the package of +apigen:serve: the kinds that are served of it, with the markers that the user put on
// them from outside.
func (b *serveBuilder) serve(m *model.Package, ms marker.Markers) {
	serve, named, extra := ms.Asking(marker.Serve), ms.Asking(marker.ServeKinds), ms.OnKinds()
	if len(serve) == 0 {
		const message = "marker \"+%s\" needs +apigen:serve beside it, with the import path of the package that " +
			"has the kinds"
		for _, x := range slices.Concat(named, extra) {
			b.errorf(x.Pos, message, x.Name)
		}
		return
	}
	at := serve[0]
	for _, x := range serve[1:] {
		b.errorf(x.Pos, "one package serves one other, here %s: put this marker into a package of its own", at.Value)
	}
	if len(m.Types) > 0 && m.HasGroup && m.Version != "" {
		b.errorf(at.Pos, "package %s has types of a version itself: put +%s into a package of its own", m.Path,
			at.Name)
		return
	}
	from := b.servable(m, at)
	if from == nil {
		return
	}
	m.Serves, m.ConversionExternal, m.DefaulterInput, from.ServedBy = from, from, from, m
	if b.versionOf(m, from, at) {
		b.pickKinds(from, at, named, extra)
	}
}

// servable resolves the package that is to be served; nil, and an error, where that can't be.
func (b *serveBuilder) servable(m *model.Package, at marker.Marker) *model.Package {
	from, err := b.whole(at.Value)
	if err == nil {
		err = b.u.Lacks(at.Value)
	}
	if err != nil {
		b.errorf(at.Pos, "package %s of marker \"+%s\" can't be loaded: %v", at.Value, at.Name, err)
	}
	switch {
	case from == nil:
	case from.Module != nil && m.Module != nil && from.Module.Path == m.Module.Path:
		b.errorf(at.Pos, "package %s is of this module, so that it is served without +apigen:serve: wiring is "+
			"written beside it", from.Path)
		return nil
	case from.ServedBy != nil:
		b.errorf(at.Pos, "package %s is served by %s already", from.Path, from.ServedBy.Path)
		return nil
	}
	return from
}

// versionOf decides the group and the version of a package of another module. The group is that of the marker of the
// package that serves it, else the one that its types are registered in, else that of its own marker.
func (b *serveBuilder) versionOf(m, from *model.Package, at marker.Marker) bool {
	registered, ok := b.registeredGroup(from.Path)
	from.OtherGroupMarked = ok && from.HasGroup && from.Group != registered
	if from.OtherGroupMarked && !m.HasGroup {
		b.warnf(at.Pos, "package %s registers its types in the group %q, which is served, and its marker +groupName "+
			"says %q: write +groupName=%s here to say that you know", from.Path, registered, from.Group, registered)
	}
	switch {
	case m.HasGroup:
		from.Group, from.HasGroup = m.Group, true
	case ok:
		from.Group, from.HasGroup = registered, true
	}
	if from.Version == "" && model.IsVersion(path.Base(from.Path)) {
		from.Version = path.Base(from.Path)
	}
	if !from.HasGroup {
		b.errorf(at.Pos, "package %s names its API group neither by +groupName nor by a constant GroupName: write "+
			"+groupName= here", from.Path)
	}
	if from.Version == "" {
		b.errorf(at.Pos, "package %s is no version of an API: neither its name nor its folder is like v1 or v1beta1",
			from.Path)
	}
	return from.HasGroup && from.Version != ""
}

// registeredGroup returns the group of the variables that conventionally hold what a package registers its types in, or
// of the constant GroupName.
func (b *serveBuilder) registeredGroup(importPath string) (string, bool) {
	if p, err := b.u.Import(importPath); err == nil {
		for _, v := range b.u.GroupVariables(p) {
			return v.Group, true
		}
	}
	return b.groupConstant(importPath)
}

func (f *faults) groupConstant(importPath string) (string, bool) {
	c, _ := lookup[*types.Const](f.u, importPath, "GroupName")
	if c == nil || c.Val().Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(c.Val()), true
}

// pickKinds puts the markers on the kinds that are to be served.
func (b *serveBuilder) pickKinds(from *model.Package, at marker.Marker, named, extra marker.Markers) {
	wanted := b.wantedKinds(from, at, named)
	added := b.kindMarkers(from, wanted, extra)
	for _, t := range from.Types {
		if wanted[t.Name] {
			b.signatures(t)
			b.foreignKind(t, added[t.Name])
			t.Kind.Served = true
			b.subresourceTypes(from.ServedBy, t)
		} else if t.Kind != nil {
			t.Kind.Served = false
		}
	}
}

// foreignKind reads a kind of another module once more, with the markers that the user put on it. Only faults in
// these are reported: the user can't edit the others.
func (b *serveBuilder) foreignKind(t *model.Type, added marker.Markers) {
	k, faults := readKind(t, append(slices.Clone(b.markersOf(t)), added...))
	t.Kind = k
	for _, e := range faults {
		if slices.ContainsFunc(added, func(m marker.Marker) bool { return m.Pos == e.Pos }) {
			b.errorf(e.Pos, "%s", e.Message)
		}
	}
}

func (b *serveBuilder) markersOf(t *model.Type) marker.Markers {
	tp, err := b.u.Import(t.Package.Path)
	if err != nil {
		return nil
	}
	return b.u.Comments(tp, 0).Of(0, t.Name).Markers
}

// dropKinds makes plain types of the kinds of served packages that aren't wanted and that no subresource uses.
func (b *serveBuilder) dropKinds(pkgs []*model.Package) {
	taken := map[*model.Type]bool{}
	for _, p := range pkgs {
		for _, t := range p.Source().Types {
			payloadKinds(t, taken)
		}
	}
	for _, p := range pkgs {
		if p.Serves == nil {
			continue
		}
		for _, t := range p.Serves.Types {
			if t.Kind != nil && !t.Kind.Served && !taken[t] {
				t.Kind = nil
			}
		}
	}
}

// wantedKinds returns the names of the kinds to serve: those of +apigen:serve:kinds, or else all whose clients have
// more than single verbs (others are bodies of subresources), or else all that are roots for controller-gen. Kinds that
// no definition has in this version, as +kubebuilder:skipversion says, are served where they are named.
func (b *serveBuilder) wantedKinds(from *model.Package, at marker.Marker, lists marker.Markers) map[string]bool {
	wanted := map[string]bool{}
	for _, list := range lists {
		for _, name := range list.Strings() {
			if t := from.Type(name); t == nil || t.Kind == nil {
				b.errorf(list.Pos, "package %s has no kind %q: %s", from.Path, name, kindNames(from))
				continue
			}
			wanted[name] = true
		}
	}
	if len(lists) > 0 {
		return wanted
	}
	roots := map[string]bool{}
	for _, t := range kinds(from) {
		if t.Kind.Manifest.Skip {
			continue
		}
		if c := t.Kind.Client; c != nil && !c.NoVerbs && t.Kind.OnlyVerbs == nil {
			wanted[t.Name] = true
		}
		if t.Kind.Kubebuilder {
			roots[t.Name] = true
		}
	}
	if len(wanted) == 0 {
		wanted = roots
	}
	if len(wanted) == 0 {
		b.errorf(at.Pos, "package %s has no kind marked +genclient or +kubebuilder:object:root: "+
			"name those to serve with +apigen:serve:kinds= (%s)", from.Path, kindNames(from))
	}
	return wanted
}

func kindNames(p *model.Package) string {
	var names []string
	for _, t := range kinds(p) {
		names = append(names, t.Name)
	}
	return "it has " + cmp.Or(strings.Join(names, ", "), "none")
}

// allKinds stands for all kinds that are served in +apigen:kind("*")=.
const allKinds = "*"

// kindMarkers returns those that +apigen:kind puts on kinds, by kind. Those of all kinds come first: a marker that
// names a kind counts more.
func (b *serveBuilder) kindMarkers(from *model.Package, wanted map[string]bool,
	extra marker.Markers) map[string]marker.Markers {
	all, out := marker.Markers{}, map[string]marker.Markers{}
	for _, x := range extra {
		kinds, ok := x.Arg("")
		put := x.Wrapped
		switch {
		case !ok || put == nil:
			b.errorf(x.Pos, "marker \"+%s\" needs a kind and a marker: "+
				"+%s(Deployment)=+kubebuilder:resource:shortName=deploy", x.Name, x.Name)
		case put.CheckPlace(marker.Type) != nil:
			b.errorf(x.Pos, "%v", put.CheckPlace(marker.Type))
		case !put.Definition.Foreign:
			b.errorf(x.Pos, "marker \"+%s\" can't be put on a kind of another module: "+
				"only markers that say how a kind is served can", put.Name)
		case kinds == allKinds:
			all = append(all, *put)
		default:
			b.putOnKinds(out, from, wanted, x, marker.SplitList(kinds))
		}
	}
	for kind := range wanted {
		out[kind] = slices.Concat(all, out[kind])
	}
	return out
}

// putOnKinds adds the marker that x puts on kinds.
func (b *serveBuilder) putOnKinds(to map[string]marker.Markers, from *model.Package, wanted map[string]bool,
	x marker.Marker, kinds []string) {
	for _, kind := range kinds {
		if !wanted[kind] {
			b.errorf(x.Pos, "kind %q of marker \"+%s\" is not among those that are served of %s", kind, x.Name,
				from.Path)
			continue
		}
		to[kind] = append(to[kind], *x.Wrapped)
	}
}

// signatures reads those of a kind's methods: the server may call them.
func (b *serveBuilder) signatures(t *model.Type) {
	obj, _ := lookup[*types.TypeName](b.u, t.Package.Path, t.Name)
	if obj == nil {
		return
	}
	if n, ok := obj.Type().(*types.Named); ok {
		for f := range n.Methods() {
			b.contextualTypes(f)
			t.Methods[f.Name()] = b.fn(f, true)
		}
	}
}

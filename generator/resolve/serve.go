package resolve

import (
	"go/constant"
	"go/types"
	"path"
	"slices"
	"strings"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// serveBuilder resolves the packages that markers of packages name, those of other modules that are served among them.
type serveBuilder struct{ *typeBuilder }

// resolve resolves the packages that markers of a root name.
func (b *serveBuilder) resolve(m *model.Package) {
	r := m.Requests
	for _, peer := range r.Peers {
		if p := b.named(m, peer); p != nil {
			m.Peers = append(m.Peers, p)
		} else {
			unknown := func(path string) bool { return path == peer.Path }
			m.ConversionPeers = slices.DeleteFunc(m.ConversionPeers, unknown)
		}
	}
	if r.ExternalTypes != nil {
		m.ConversionExternal = b.named(m, *r.ExternalTypes)
	}
	if r.DefaulterInput != nil {
		m.DefaulterInput = b.named(m, *r.DefaulterInput)
	}
	b.serve(m, b.u.Root(m.Path).Markers().OnKinds())
}

// named returns the package that a marker of other generators names; nil, and a fault, where there is none: projects
// keep such markers after the package was removed.
func (b *serveBuilder) named(m *model.Package, r model.PackageRequest) *model.Package {
	p, err := b.whole(r.Path)
	if err != nil {
		b.fault(m, r.Pos, "package %s of marker \"+%s\" can't be loaded: %v", r.Path, r.Marker, err)
	}
	return p
}

// serve takes in the package of +apigen:serve: the kinds that are served of it, with the markers that the user put on
// them from outside.
func (b *serveBuilder) serve(m *model.Package, extra []marker.OnKind) {
	r := m.Requests
	if len(r.Serve) == 0 {
		const message = "marker \"+%s\" needs +apigen:serve beside it, with the import path of the package that " +
			"has the kinds"
		for _, x := range r.ServeKinds {
			b.errorf(x.Pos, message, x.Marker)
		}
		for _, x := range extra {
			b.errorf(x.By.Pos, message, x.By.Name)
		}
		return
	}
	at := r.Serve[0]
	for _, x := range r.Serve[1:] {
		b.errorf(x.Pos, "one package serves one other, here %s: put this marker into a package of its own", at.Path)
	}
	if len(m.Types) > 0 && m.HasGroup && m.Version != "" {
		b.errorf(at.Pos, "package %s has types of a version itself: put +%s into a package of its own", m.Path,
			at.Marker)
		return
	}
	from := b.servable(m, at)
	if from == nil {
		return
	}
	m.Serves, m.ConversionExternal, m.DefaulterInput, from.ServedBy = from, from, from, m
	if b.versionOf(m, from, at) {
		b.pickKinds(from, at, extra)
	}
}

// servable resolves the package that is to be served; nil, and an error, where that can't be.
func (b *serveBuilder) servable(m *model.Package, at model.PackageRequest) *model.Package {
	from, err := b.whole(at.Path)
	if err == nil {
		err = b.u.Lacks(at.Path)
	}
	if err != nil {
		b.errorf(at.Pos, "package %s of marker \"+%s\" can't be loaded: %v", at.Path, at.Marker, err)
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

// versionOf decides the group and the version of a package of another module: by its markers, the constant GroupName
// that its registration conventionally declares, or the markers of the package that serves it.
func (b *serveBuilder) versionOf(m, from *model.Package, at model.PackageRequest) bool {
	if !from.HasGroup {
		from.Group, from.HasGroup = b.groupConstant(from.Path)
	}
	if !from.HasGroup {
		from.Group, from.HasGroup = m.Group, m.HasGroup
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

// groupConstant returns the value of the package's constant GroupName, and whether there is one.
func (f *faults) groupConstant(importPath string) (string, bool) {
	tp, err := f.u.Import(importPath)
	if err != nil {
		return "", false
	}
	c, ok := tp.Scope().Lookup("GroupName").(*types.Const)
	if !ok || c.Val().Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(c.Val()), true
}

// pickKinds puts the markers on the kinds that are to be served.
func (b *serveBuilder) pickKinds(from *model.Package, at model.PackageRequest, extra []marker.OnKind) {
	wanted := b.wantedKinds(from, at)
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

// markersOf returns the markers of a type of a dependency.
func (b *serveBuilder) markersOf(t *model.Type) marker.Markers {
	tp, err := b.u.Import(t.Package.Path)
	if err != nil {
		return nil
	}
	return b.u.Comments(tp, 0).Of(0, t.Name).Markers
}

// dropKinds makes plain types of those kinds of served packages that neither the user wants nor a subresource takes or
// answers.
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

// wantedKinds returns the names of the kinds to serve: those of +apigen:serve:kinds; or all that have clients for more
// than single verbs: others are bodies of subresources, or are computed; or, where no kind has clients, all that are
// roots for controller-gen.
func (b *serveBuilder) wantedKinds(from *model.Package, at model.PackageRequest) map[string]bool {
	wanted := map[string]bool{}
	lists := from.ServedBy.Requests.ServeKinds
	for _, list := range lists {
		for _, name := range list.Names {
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
		if c := t.Kind.Client; c != nil && !c.NoVerbs && t.Kind.Verbs == nil {
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

// kindNames tells which kinds a package has.
func kindNames(p *model.Package) string {
	var names []string
	for _, t := range kinds(p) {
		names = append(names, t.Name)
	}
	if len(names) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}

// kindMarkers returns those that +apigen:kind puts on kinds, by kind.
func (b *serveBuilder) kindMarkers(
	from *model.Package, wanted map[string]bool, extra []marker.OnKind,
) map[string]marker.Markers {
	out := map[string]marker.Markers{}
	for _, x := range extra {
		put := x.By.Wrapped
		switch {
		case !x.HasKind || put == nil:
			b.errorf(x.By.Pos, "marker \"+%s\" needs a kind and a marker: "+
				"+%s(Deployment)=+kubebuilder:resource:shortName=deploy", x.By.Name, x.By.Name)
		case !wanted[x.Kind]:
			b.errorf(x.By.Pos, "kind %q of marker \"+%s\" is not among those that are served of %s", x.Kind,
				x.By.Name, from.Path)
		case put.CheckPlace(marker.Type) != nil:
			b.errorf(x.By.Pos, "%v", put.CheckPlace(marker.Type))
		case put.Definition == nil || !put.Definition.Foreign:
			b.errorf(x.By.Pos, "marker \"+%s\" can't be put on a kind of another module: "+
				"only markers that say how a kind is served can", put.Name)
		default:
			out[x.Kind] = append(out[x.Kind], *put)
		}
	}
	return out
}

// signatures reads those of a kind's methods: the server may call them.
func (b *serveBuilder) signatures(t *model.Type) {
	tp, err := b.u.Import(t.Package.Path)
	if err != nil {
		return
	}
	obj, ok := tp.Scope().Lookup(t.Name).(*types.TypeName)
	if !ok {
		return
	}
	n, ok := obj.Type().(*types.Named)
	if !ok {
		return
	}
	for i := range n.NumMethods() {
		f := n.Method(i)
		t.Methods[f.Name()] = b.fn(f, true)
	}
}

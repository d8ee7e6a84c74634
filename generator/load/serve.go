package load

import (
	"go/constant"
	"go/types"
	"path"
	"slices"
	"strings"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// serve takes in the package of +apigen:serve: the kinds that are served of it, with the markers that the user put on
// them from outside.
func (b *builder) serve(m *model.Package, ms marker.Markers) {
	named := ms.All("apigen:serve")
	if len(named) == 0 {
		for _, x := range slices.Concat(ms.All("apigen:serve:kinds"), ms.All("apigen:kind")) {
			b.errorf(x.Pos, "marker \"+%s\" needs +apigen:serve beside it, with the import path of the package that has the kinds", x.Name)
		}
		return
	}
	at := named[0]
	for _, x := range named[1:] {
		b.errorf(x.Pos, "one package serves one other, here %s: put this marker into a package of its own", at.Value)
	}
	if len(m.Types) > 0 && m.HasGroup && m.Version != "" {
		b.errorf(at.Pos, "package %s has types of a version itself: put +apigen:serve into a package of its own", m.Path)
		return
	}
	from := b.servable(m, at)
	if from == nil {
		return
	}
	m.Serves, m.ConversionExternal, m.DefaulterInput, from.ServedBy = from, from, from, m
	if b.versionOf(m, from, at) {
		b.pickKinds(from, at, ms)
	}
}

// servable resolves the package that is to be served; nil, and an error, where that can't be.
func (b *builder) servable(m *model.Package, at marker.Marker) *model.Package {
	from, err := b.resolve(at.Value)
	if err == nil {
		err = b.l.lacks(at.Value)
	}
	if err != nil {
		b.errorf(at.Pos, "package %s of marker \"+%s\" can't be loaded: %v", at.Value, at.Name, err)
	}
	switch {
	case from == nil:
	case from.Module != nil && m.Module != nil && from.Module.Path == m.Module.Path:
		b.errorf(at.Pos, "package %s is of this module, so that it is served without +apigen:serve: wiring is written beside it", from.Path)
		return nil
	case from.ServedBy != nil:
		b.errorf(at.Pos, "package %s is served by %s already", from.Path, from.ServedBy.Path)
		return nil
	}
	return from
}

// versionOf decides the group and the version of a package of another module: by its markers, the constant GroupName
// that its registration conventionally declares, or the markers of the package that serves it.
func (b *builder) versionOf(m, from *model.Package, at marker.Marker) bool {
	if !from.HasGroup {
		from.Group, from.HasGroup = b.groupConstant(from.Path)
	}
	if !from.HasGroup {
		from.Group, from.HasGroup = m.Group, m.HasGroup
	}
	if from.Version == "" && isVersion(path.Base(from.Path)) {
		from.Version = path.Base(from.Path)
	}
	if !from.HasGroup {
		b.errorf(at.Pos, "package %s tells its API group neither by +groupName nor by a constant GroupName: write +groupName= here", from.Path)
	}
	if from.Version == "" {
		b.errorf(at.Pos, "package %s is no version of an API: neither its name nor its folder is like v1 or v1beta1", from.Path)
	}
	return from.HasGroup && from.Version != ""
}

// groupConstant is the value of the package's constant GroupName, and whether there is one.
func (b *builder) groupConstant(importPath string) (string, bool) {
	tp, err := b.l.load(importPath)
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
func (b *builder) pickKinds(from *model.Package, at marker.Marker, ms marker.Markers) {
	notes := b.notes[from.Path]
	wanted := b.wantedKinds(from, at, ms)
	extra := b.kindMarkers(from, wanted, ms)
	for _, t := range from.Types {
		if wanted[t.Name] {
			b.signatures(t)
			b.kind(t, append(slices.Clone(effective(notes.of(0, t.Name).markers)), extra[t.Name]...))
			t.Kind.Served = true
			b.subresourceTypes(from.ServedBy, t)
		} else if t.Kind != nil {
			t.Kind.Served = false
		}
	}
}

// leaveKinds leaves those types of packages that are served kinds that are wanted, or that a subresource takes or answers.
func (b *builder) leaveKinds(pkgs []*model.Package) {
	taken := map[*model.Type]bool{}
	for _, p := range pkgs {
		for _, t := range p.Source().Types {
			takenKinds(t, taken)
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

// wantedKinds are the names of the kinds to serve: those of +apigen:serve:kinds; or all that have clients for more than
// single verbs: others are bodies of subresources, or are computed; or, where no kind has clients, all that are roots for
// controller-gen.
func (b *builder) wantedKinds(from *model.Package, at marker.Marker, ms marker.Markers) map[string]bool {
	wanted := map[string]bool{}
	lists := ms.All("apigen:serve:kinds")
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
	for _, t := range from.Types {
		if t.Kind == nil {
			continue
		}
		own := b.notes[from.Path].of(0, t.Name).markers
		if _, client := own.Get("genclient"); client && len(own.All("genclient:noVerbs")) == 0 && len(own.All("genclient:onlyVerbs")) == 0 {
			wanted[t.Name] = true
		}
		if root, ok := own.Get("kubebuilder:object:root"); ok && root.Value != "false" {
			roots[t.Name] = true
		}
	}
	if len(wanted) == 0 {
		wanted = roots
	}
	if len(wanted) == 0 {
		b.errorf(at.Pos, "package %s has no kind marked +genclient or +kubebuilder:object:root: name those to serve with +apigen:serve:kinds= (%s)", from.Path, kindNames(from))
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

// kindMarkers are those that +apigen:kind puts on kinds, by kind.
func (b *builder) kindMarkers(from *model.Package, wanted map[string]bool, ms marker.Markers) map[string]marker.Markers {
	out := map[string]marker.Markers{}
	for _, m := range ms.All("apigen:kind") {
		name, ok := m.Arg("")
		switch {
		case !ok || m.Wrapped == nil:
			b.errorf(m.Pos, "marker \"+apigen:kind\" needs a kind and a marker: +apigen:kind(Deployment)=+kubebuilder:resource:shortName=deploy")
		case !wanted[name]:
			b.errorf(m.Pos, "kind %q of marker \"+apigen:kind\" is not among those that are served of %s", name, from.Path)
		case !ofKinds(m.Wrapped.Name):
			b.errorf(m.Pos, "marker \"+%s\" can't be put on a kind of another module: only what says how a kind is served can", m.Wrapped.Name)
		default:
			if err := m.Wrapped.CheckPlace(marker.Type); err != nil {
				b.errorf(m.Pos, "%v", err)
				continue
			}
			out[name] = append(out[name], *m.Wrapped)
		}
	}
	return out
}

// ofKinds tells the markers that say how a kind is served from those about types and their values.
func ofKinds(name string) bool {
	switch name {
	case "resourceName", "genclient:nonNamespaced", "genclient:noStatus",
		"kubebuilder:resource", "kubebuilder:printcolumn", "kubebuilder:selectablefield", "kubebuilder:storageversion",
		"kubebuilder:unservedversion", "kubebuilder:deprecatedversion":
		return true
	}
	return strings.HasPrefix(name, "kubebuilder:subresource") || strings.HasPrefix(name, "apigen:")
}

// signatures reads those of a kind's methods: the server may call them.
func (b *builder) signatures(t *model.Type) {
	tp, err := b.l.load(t.Package.Path)
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

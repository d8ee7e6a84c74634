package load

import (
	"fmt"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

var (
	labelPattern  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	domainPattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

// columnTypes are those of kubectl's columns.
var columnTypes = []string{"integer", "number", "string", "boolean", "date"}

// columnFormats are those that kube-apiserver takes.
var columnFormats = []string{"int32", "int64", "float", "double", "byte", "date", "date-time", "password"}

// reportOf takes faults of markers of a package that is read from source; nil for other packages, whose faults are not
// the user's.
func (b *builder) reportOf(p *model.Package) reporter {
	if p == nil {
		return nil
	}
	s := b.l.sources[p.Path]
	if s == nil || !s.root {
		return nil
	}
	return b.reporter(s, false)
}

// checkGroup reports a group that no path of an API can hold.
func (b *builder) checkGroup(m *model.Package, ms marker.Markers) {
	g, ok := ms.Get("groupName")
	if report := b.reportOf(m); ok && g.Value != "" && report != nil && !domainPattern.MatchString(g.Value) {
		report(g.Pos, fmt.Sprintf("marker \"+groupName\": %q is no name of an API group: write a DNS name of small letters, digits, dashes and dots, such as shop.example.com", g.Value))
	}
}

// checkVersion reports a name that is no version's.
func (b *builder) checkVersion(m *model.Package, v marker.Marker) bool {
	if isVersion(v.Value) {
		return true
	}
	if report := b.reportOf(m); report != nil {
		report(v.Pos, fmt.Sprintf("marker \"+versionName\": %q is no version of an API: write one such as v1 or v1beta1", v.Value))
	}
	return false
}

// checkPaths reports names of a kind that no path of an API can hold, and what else can't be said of one.
func (b *builder) checkPaths(m *model.Type, ms marker.Markers) {
	report := b.reportOf(m.Package)
	if report == nil {
		return
	}
	check := func(at marker.Marker, key, value string) {
		if value != "" && !labelPattern.MatchString(value) {
			report(at.Pos, fmt.Sprintf("marker \"+%s\": %s %q is no name for a path: write small letters, digits and dashes", at.Name, key, value))
		}
	}
	for _, r := range ms {
		switch r.Name {
		case "resourceName":
			check(r, "the plural", r.Value)
		case "kubebuilder:resource":
			for _, a := range r.Args {
				switch a.Key {
				case "path", "singular":
					check(r, a.Key, a.Value)
				case "shortName", "categories":
					for _, v := range marker.SplitList(a.Value) {
						check(r, a.Key, v)
					}
				case "scope":
					if a.Value == "Namespaced" && ms.Has("genclient:nonNamespaced") {
						report(r.Pos, "+kubebuilder:resource:scope=Namespaced and +genclient:nonNamespaced deny one another: remove one")
					}
				}
			}
		case "kubebuilder:printcolumn", "apigen:printcolumn":
			if v, ok := r.Arg("type"); ok && !slices.Contains(columnTypes, v) {
				report(r.Pos, fmt.Sprintf("marker \"+%s\": type %q is not one of %s", r.Name, v, strings.Join(columnTypes, ", ")))
			}
			if v, ok := r.Arg("format"); ok && v != "" && !slices.Contains(columnFormats, v) {
				report(r.Pos, fmt.Sprintf("marker \"+%s\": format %q is not one of %s", r.Name, v, strings.Join(columnFormats, ", ")))
			}
		}
	}
	b.checkSelectable(ms, report)
	checkTwice(ms, report)
}

// checkTwice reports what several markers say of a resource differently, and names that one of them gives twice.
func checkTwice(ms marker.Markers, report reporter) {
	type saying struct {
		value string
		line  int
	}
	said := map[string]saying{}
	for _, r := range ms.All("kubebuilder:resource") {
		for _, a := range r.Args {
			if before, again := said[a.Key]; again && before.value != a.Value {
				report(r.Pos, fmt.Sprintf("marker \"+kubebuilder:resource\": %s is said twice, with %s here and with %s at line %d: remove one", a.Key, a.Value, before.value, before.line))
			}
			said[a.Key] = saying{a.Value, r.Pos.Line}
			if names := marker.SplitList(a.Value); a.Key == "shortName" || a.Key == "categories" {
				for i, name := range names {
					if slices.Contains(names[:i], name) {
						report(r.Pos, fmt.Sprintf("marker \"+kubebuilder:resource\": %s %q is there twice", a.Key, name))
					}
				}
			}
		}
	}
}

// checkSelectable reports a field that is selectable twice.
func (b *builder) checkSelectable(ms marker.Markers, report reporter) {
	seen := map[string]token.Position{}
	for _, f := range ms.All("kubebuilder:selectablefield") {
		path, _ := f.Arg("JSONPath")
		if at, ok := seen[path]; ok && path != "" {
			report(f.Pos, fmt.Sprintf("marker \"+kubebuilder:selectablefield\": %s is said at line %d already", path, at.Line))
		}
		seen[path] = f.Pos
	}
}

// kindMarkers are the markers that say how a kind is served.
var kindMarkers = []string{
	"kubebuilder:resource", "kubebuilder:printcolumn", "kubebuilder:storageversion", "kubebuilder:selectablefield",
	"kubebuilder:subresource:status", "kubebuilder:subresource:scale",
	"apigen:printcolumn", "apigen:createOnUpdate", "apigen:requireResourceVersion", "apigen:returnDeletedObject",
}

// checkNoKind reports markers of kinds on a type that is none.
func (b *builder) checkNoKind(m *model.Type, ms marker.Markers) {
	report := b.reportOf(m.Package)
	if report == nil || embedsUntold(m) {
		return
	}
	want := "embed metav1.TypeMeta and metav1.ObjectMeta"
	if m.Form == model.Struct && embeds(m, "TypeMeta") && embeds(m, "ObjectMeta") {
		want = "mark it with +kubebuilder:object:root=true or +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object"
	}
	for _, x := range ms {
		if slices.Contains(kindMarkers, x.Name) {
			report(x.Pos, fmt.Sprintf("marker \"+%s\" is for kinds, and %s is none: %s", x.Name, m.Name, want))
		}
	}
	if x, ok := ms.Get("kubebuilder:object:root"); ok && x.True() && (m.Form != model.Struct || !embeds(m, "TypeMeta")) {
		report(x.Pos, fmt.Sprintf("marker \"+kubebuilder:object:root\" is for kinds and their lists, and %s is none: embed metav1.TypeMeta, with metav1.ObjectMeta or metav1.ListMeta", m.Name))
	}
}

// shortNames reports short names that more than one kind of a group has.
func (b *builder) shortNames(g *model.Group) {
	owner, called := map[string]*model.Resource{}, map[string]*model.Resource{}
	for _, r := range g.Resources {
		called[r.Plural], called[r.Singular] = r, r
	}
	for _, r := range g.Resources {
		for _, name := range r.ShortNames {
			t := r.Versions[0].Type
			if other := called[name]; other != nil && other != r {
				if report := b.reportOf(t.Package); report != nil {
					report(t.Pos, fmt.Sprintf("the short name %q of kind %s is what kind %s of group %q is called: choose another one", name, r.Kind, other.Kind, g.Name))
				}
			}
			if other := owner[name]; other != nil {
				if report := b.reportOf(t.Package); report != nil {
					report(t.Pos, fmt.Sprintf("the kinds %s and %s of group %q have the short name %q: take it from one", other.Kind, r.Kind, g.Name, name))
				}
			}
			owner[name] = r
		}
	}
}

// unserved warns of kinds that clients are generated for and that no group serves.
func (b *builder) unserved(p *model.Program) {
	if !p.RuntimeAvailable {
		return
	}
	for _, pkg := range p.Packages {
		if !pkg.Output || p.InGroup(pkg.Path) || pkg.Module == nil || !pkg.Module.Own {
			continue
		}
		for _, t := range kinds(pkg) {
			if ms := b.notes[pkg.Path].of(0, t.Name).markers; !ms.Has("genclient") && !ms.Has("kubebuilder:resource") && !ms.Has("kubebuilder:storageversion") {
				continue
			}
			switch {
			case !pkg.HasGroup:
				b.warnings.Add(t.Pos, "kind %s is not served: package %s says of no group that it is of it: write // +groupName=<group> above its package clause", t.Name, pkg.Path)
			case pkg.Version == "":
				b.warnings.Add(t.Pos, "kind %s is not served: %s is no name of a version: call the package v1, or v1alpha1", t.Name, pkg.Name)
			}
			break
		}
	}
}

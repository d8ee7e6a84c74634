// Package clientset says which groups, versions and kinds get clients, what their packages and Go names are, and where
// they lie: those of k8s.io/code-generator, which users know. It is the part of the plan that the emitters of clients
// share. It knows the model and spelling.
package clientset

import (
	"path"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/spelling"
)

// Set is all client packages of one marker. It and what it holds are read-only.
type Set struct {
	*model.Clients
	// Groups have at least a version each, sorted by name.
	Groups []*Group
	// These are import paths: of the clientset, its scheme and its fake; of the factory of informers, and of what the
	// factory and the informers know of each other; of what is said of all apply configurations, and of their schema.
	ClientsetPath, SchemePath, FakePath string
	InformersPath, InterfacesPath       string
	ApplyPath, ParserPath               string
}

// Group is an API group with clients.
type Group struct {
	Name  string
	Model *model.Group
	// GoName is Wardle for wardle.example.com. Folder is the element of import paths that stands for the group,
	// PackageName that of the group's own package.
	GoName, Folder, PackageName string
	// Versions have at least a kind each, in order of priority.
	Versions []*Version
}

// Version is one version of a group.
type Version struct {
	Set   *Set
	Group *Group
	// Name is v1alpha1.
	Name  string
	Model *model.Version
	// Package declares the kinds that have clients: one does, of those of the version.
	Package *model.Package
	// AddToScheme is the function of the types' package that registers them.
	AddToScheme string
	// Kinds are sorted by name.
	Kinds []*Kind
	// Schemas are the OpenAPI schemas of the kinds that clients apply, and of all that they refer to, by name. Apply
	// configurations are made from them.
	Schemas map[string]map[string]any
	// These are the import paths of its clients, fakes, listers, informers and apply configurations.
	TypedPath, TypedFakePath, ListerPath, InformerPath, ApplyPath string
}

// New returns the client packages of a marker, with the faults that keep them from being written.
func New(c *model.Clients) (*Set, diag.Errors) {
	var errs diag.Errors
	s := &Set{Clients: c, ClientsetPath: c.Path + "/clientset/versioned",
		InformersPath: c.Path + "/informers/externalversions", ApplyPath: c.Path + "/applyconfiguration"}
	s.SchemePath, s.FakePath = s.ClientsetPath+"/scheme", s.ClientsetPath+"/fake"
	s.InterfacesPath, s.ParserPath = s.InformersPath+"/internalinterfaces", s.ApplyPath+"/internal"
	for _, g := range c.Groups {
		if group := s.group(g, &errs); len(group.Versions) > 0 {
			s.Groups = append(s.Groups, group)
		}
	}
	s.distinguish(&errs)
	s.checkExported(&errs)
	for _, v := range s.Versions() {
		folder := "/" + v.Group.Folder + "/" + v.Name
		v.TypedPath, v.ListerPath = s.ClientsetPath+"/typed"+folder, c.Path+"/listers"+folder
		v.TypedFakePath = v.TypedPath + "/fake"
		v.InformerPath, v.ApplyPath = s.InformersPath+folder, s.ApplyPath+folder
	}
	return s, errs
}

func (s *Set) group(g *model.Group, errs *diag.Errors) *Group {
	out := &Group{Name: g.Name, Model: g, GoName: spelling.UpperFirst(g.GoName)}
	for _, v := range g.Versions {
		version := &Version{Set: s, Group: out, Name: v.Name, Model: v}
		for _, t := range v.Kinds {
			if t.Kind.Client != nil && t.Package.Below(s.Marked.Path) {
				version.Package = t.Package
				version.Kinds = append(version.Kinds, newKind(version, g, t, errs))
			}
		}
		slices.SortFunc(version.Kinds, func(a, b *Kind) int { return strings.Compare(a.Name(), b.Name()) })
		if len(version.Kinds) == 0 {
			continue
		}
		out.Versions = append(out.Versions, version)
		if out.Folder == "" {
			out.Folder = strings.ToLower(path.Base(path.Dir(version.Package.Path)))
		}
	}
	return out
}

// distinguish renames folders of the same name after their groups, and refuses groups with the same Go name: the
// clientset would have a method twice.
func (s *Set) distinguish(errs *diag.Errors) {
	folders, names := map[string]int{}, map[string]*Group{}
	for _, g := range s.Groups {
		folders[g.Folder]++
		if other := names[g.GoName]; other != nil {
			errs.Add(g.Versions[0].Package.Pos, "the groups %q and %q are both called %s in Go: tell them apart with "+
				"+groupGoName=", other.Name, g.Name, g.GoName)
		}
		names[g.GoName] = g
	}
	for _, g := range s.Groups {
		if folders[g.Folder] > 1 || Identifier(g.Folder) == "" || g.Folder == "internalinterfaces" {
			g.Folder = strings.ToLower(g.GoName)
		}
		g.PackageName = Identifier(g.Folder)
	}
}

// Identifier drops all but the letters and digits that a package name may have.
func Identifier(folder string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(folder))
	return strings.TrimLeft(name, "0123456789")
}

// Versions are those of all groups.
func (s *Set) Versions() []*Version {
	var out []*Version
	for _, g := range s.Groups {
		out = append(out, g.Versions...)
	}
	return out
}

// GroupName is the group's name for people.
func (g *Group) GroupName() string {
	if g.Name == "" {
		return "the core group"
	}
	return "group " + g.Name
}

// Alias is the name under which files import the group's own package.
func (g *Group) Alias() string { return "group" + g.PackageName }

// InformedVersions are those with a kind that has an informer.
func (g *Group) InformedVersions() []*Version {
	return only(g.Versions, func(v *Version) bool { return len(v.Informed()) > 0 })
}

// InformedGroups are those with a kind that has an informer.
func (s *Set) InformedGroups() []*Group {
	return only(s.Groups, func(g *Group) bool { return len(g.InformedVersions()) > 0 })
}

// GroupInformers is the import path of a group's informers.
func (s *Set) GroupInformers(g *Group) string { return s.InformersPath + "/" + g.Folder }

// Title is V1alpha1.
func (v *Version) Title() string { return spelling.UpperFirst(v.Name) }

// GoName is WardleV1alpha1.
func (v *Version) GoName() string { return v.Group.GoName + v.Title() }

// Field is wardleV1alpha1.
func (v *Version) Field() string { return spelling.LowerFirst(v.GoName()) }

// GroupVersion is wardle.example.com/v1alpha1.
func (v *Version) GroupVersion() string {
	if v.Group.Name == "" {
		return v.Name
	}
	return v.Group.Name + "/" + v.Name
}

// APIPath is the beginning of the version's paths.
func (v *Version) APIPath() string {
	if v.Group.Name == "" {
		return "/api"
	}
	return "/apis"
}

// API is the name under which files import the package of the types: wardlev1alpha1.
func (v *Version) API() string {
	name := strings.ToLower(v.Group.GoName) + v.Name
	if name == "metav1" { // files import apimachinery's package under that name
		return "api" + name
	}
	return name
}

// Alias is the name under which files import the version's typed clients.
func (v *Version) Alias() string { return "typed" + v.API() }

// ListerAlias is the name under which files import the version's listers.
func (v *Version) ListerAlias() string { return "listers" + v.API() }

// ApplyAlias is the name under which files import the version's apply configurations.
func (v *Version) ApplyAlias() string { return "apply" + v.API() }

// Listed are the kinds with a lister.
func (v *Version) Listed() []*Kind { return only(v.Kinds, (*Kind).Listed) }

// Informed are the kinds with an informer.
func (v *Version) Informed() []*Kind { return only(v.Kinds, (*Kind).Informed) }

// Applied are the kinds that clients apply.
func (v *Version) Applied() []*Kind { return only(v.Kinds, (*Kind).Applied) }

func only[T any](all []T, has func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(x T) bool { return !has(x) })
}

// Apply reports whether any kind has an apply configuration.
func (s *Set) Apply() bool {
	return slices.ContainsFunc(s.Versions(), func(v *Version) bool { return len(v.Applied()) > 0 })
}

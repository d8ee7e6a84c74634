package model

import (
	"slices"
	"strings"
)

// Group is an API group: a hub and its served versions.
type Group struct {
	Name string
	// GoName is the Go identifier for the group: Shop for shop.example.com (+groupGoName, or the first label).
	GoName string
	// Internal is the internal hub package, or nil where each resource's storage version is its hub.
	Internal *Package
	// Versions are in order of priority: the preferred one first, which clients get that name none, and then the others
	// in Kubernetes' order, GA before beta before alpha. The preferred version is the one marked +apigen:preferred, or
	// else the one that objects are stored in.
	Versions []*Version
	// Resources are the group's kinds across versions, sorted by plural.
	Resources []*Resource
	// Wiring is the package that wiring is generated into, <parent of the version packages>/wiring: it may not exist
	// yet. Nil where the group has no home of the user's own.
	Wiring *WiringPackage
}

// WiringPackage is where a group's wiring goes.
type WiringPackage struct {
	Path, Name, Dir string
}

// Version is one served version of a group.
type Version struct {
	Name string
	// Packages declare its kinds, by import path: one of them nearly always, as clients need it.
	Packages []*Package
	// Kinds are the version's kinds, by package and position.
	Kinds []*Type
}

// Packages returns the packages of the group's versions, in the order of the versions.
func (g *Group) Packages() []*Package {
	var out []*Package
	for _, v := range g.Versions {
		out = append(out, v.Packages...)
	}
	return out
}

// Resource is a kind across the versions of its group.
type Resource struct {
	Kind     string
	ListKind string
	Plural   string
	Singular string

	ShortNames, Categories []string
	ClusterScoped          bool
	// Hub is the type that logic works on: the internal package's, or that of the storage version.
	Hub *Type
	// Storage is the version that is written to the backend.
	Storage *Version
	// Versions are those that have the kind, in order of priority, with their types.
	Versions []ResourceVersion
	// Status: every version of the kind has a status subresource.
	Status bool
	// StatusMarker is +apigen:subresource:name=status; nil if it wasn't said.
	StatusMarker *SubresourceMarker
	// Subresources are all others, by name.
	Subresources []*Subresource
	// WithoutStorage: a provider answers for the kind, of which nothing is stored.
	WithoutStorage bool
	// Verbs are those that the kind is served with, sorted; nil if it is served with all. VerbsPos is where they are
	// said; it is invalid if nobody says them.
	Verbs    []string
	VerbsPos Position
	// StoragePrefix is that of the first version that says one; empty if none does.
	StoragePrefix string
	// SameAs is the resource of another group whose objects these are. Hub, Storage and StoragePrefix are those of that
	// resource. It is nil if the objects are the resource's own.
	SameAs *GroupResource
}

// GroupResource is a resource with its group.
type GroupResource struct {
	*Resource
	Group *Group
}

// Stored returns the resource that decides where and how the objects are stored: that of SameAs, or r.
func (r *Resource) Stored() *Resource {
	if r.SameAs != nil {
		return r.SameAs.Resource
	}
	return r
}

// Prefix returns the prefix of the resource's keys.
func (r *GroupResource) Prefix() string {
	if r.StoragePrefix != "" {
		return r.StoragePrefix
	}
	return strings.TrimPrefix(r.Group.Name+"/"+r.Plural, "/")
}

// ResourceVersion is a resource in one version.
type ResourceVersion struct {
	Version *Version
	Type    *Type
}

// Column is +kubebuilder:printcolumn.
type Column struct {
	Name, Type, Format, Description string
	Priority                        int32
	// JSONPath is the field's, as written: .spec.color. Method is the name of a method of the type instead
	// (+apigen:printcolumn:...,method=).
	JSONPath string
	Method   string
	// Steps is the resolved path; nil where JSONPath leads where Go's types don't tell: there the column stays empty.
	Steps []Step
	Pos   Position
}

// NameFormat is the Format of the column with the object's name. Columns of custom resources can't have it.
const NameFormat = "name"

// SelectableField is +kubebuilder:selectablefield or +apigen:selectablefield.
type SelectableField struct {
	// Name is what selectors call it: the path without the dot, unless the marker says otherwise.
	Name string
	// Method is the method of the hub that returns its value; empty if a path leads to it.
	Method   string
	JSONPath string
	Steps    []Step
	Pos      Position
}

// Shown returns what errors call the field: the path, or the name where a method makes its value.
func (f SelectableField) Shown() string {
	if f.JSONPath == "" {
		return f.Name
	}
	return f.JSONPath
}

// Step is one step of a resolved path: a field, a map key, or an index of a list.
type Step struct {
	Field *Field // of the current struct; embedded structs that are inlined on the way are steps of their own
	Key   string // of the current map, where Field is nil and IsIndex is false
	Index int    // of the current list, where IsIndex; negative ones count from the end
	// IsIndex tells Index from Key.
	IsIndex bool
	// Filter, where not nil, picks the first element of the current list that satisfies it, and nothing else is set.
	Filter *Filter
}

// Filter is the condition of [?(@.type=="Ready")]: an element satisfies it where the string at Steps, which are fields
// only, equals Value.
type Filter struct {
	Steps []Step
	Value string
}

// Served returns the resource's versions that clients may ask for, in order of priority: all but those marked
// +kubebuilder:unservedversion, and those that are left out.
func (r *Resource) Served() []ResourceVersion {
	unserved := func(v ResourceVersion) bool {
		k := v.Type.Kind
		return k != nil && (k.Unserved || k.LeftOut)
	}
	return slices.DeleteFunc(slices.Clone(r.Versions), unserved)
}

// ServedVersions returns the group's versions with anything to serve, in order of priority.
func (g *Group) ServedVersions() []*Version {
	served := map[*Version]bool{}
	for _, r := range g.Resources {
		for _, v := range r.Served() {
			served[v.Version] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(g.Versions), func(v *Version) bool { return !served[v] })
}

// Wired returns the groups that have wiring: those with a home for it, in a module that requires the runtime, with
// something to serve.
func (p *Program) Wired() []*Group {
	if !p.RuntimeAvailable {
		return nil
	}
	var out []*Group
	for _, g := range p.Groups {
		if g.Wiring != nil && len(g.ServedVersions()) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// WiredBelow returns the groups with wiring below a package's directory, by name. It doesn't matter which of them were
// asked for in this run: the list is complete.
func (p *Program) WiredBelow(pkg *Package) []*Group {
	var out []*Group
	for _, g := range p.Wired() {
		if strings.HasPrefix(g.Wiring.Path, pkg.Path+"/") {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b *Group) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// InGroup reports whether the package of that path is a version of an API group, or one's internal package.
func (p *Program) InGroup(path string) bool {
	for _, g := range p.Groups {
		if g.Internal != nil && g.Internal.Path == path {
			return true
		}
		for _, q := range g.Packages() {
			if q.Path == path || q.Home().Path == path {
				return true
			}
		}
	}
	return false
}

// Imports reports whether a package that the user owns imports another one, also by way of others.
func (p *Program) Imports(from, to *Package) bool { return p.imports(from, to, map[string]bool{}) }

func (p *Program) imports(from, to *Package, seen map[string]bool) bool {
	if seen[from.Path] || !from.Output && !from.Own() {
		return false
	}
	seen[from.Path] = true
	if slices.Contains(from.Imports, to.Path) {
		return true
	}
	return slices.ContainsFunc(p.Packages, func(other *Package) bool {
		return slices.Contains(from.Imports, other.Path) && p.imports(other, to, seen)
	})
}

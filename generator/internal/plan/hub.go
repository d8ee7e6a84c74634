package plan

import (
	"slices"

	"apigen.dev/generator/internal/model"
)

// versionsWithoutHub are, by package path, the kinds of versions that convert to the storage version. Where nothing is
// to be served, nobody asked for conversions: the packages are types for clients, or those of custom resources, whose
// storage version is kube-apiserver's affair.
func versionsWithoutHub(program *model.Program) map[string][]Pair {
	pairs := map[string][]Pair{}
	if !program.RuntimeAvailable {
		return pairs
	}
	for _, g := range program.Groups {
		for _, r := range g.Resources {
			if g.Internal != nil && r.SameAs == nil {
				continue
			}
			for _, v := range r.Versions {
				if r.Hub == nil || v.Type == r.Hub || v.Type.Package == r.Hub.Package || brought(v.Type, r.Hub) {
					continue
				}
				spoke, hub := v.Type, r.Hub
				if program.Imports(hub.Package.Home(), spoke.Package.Home()) {
					spoke, hub = hub, spoke // the hub imports the version: conversions stand beside the hub
				}
				path := spoke.Package.Home().Path
				pairs[path] = append(pairs[path], Pair{spoke, hub})
				if l, other := listOf(spoke), listOf(hub); l != nil && other != nil {
					pairs[path] = append(pairs[path], Pair{l, other})
				}
				pairs[path] = append(pairs[path], payloadPairs(r, spoke.Package, hub.Package)...)
			}
		}
	}
	return pairs
}

// payloadPairs are the kinds that the subresources of a resource take and answer, in two packages.
func payloadPairs(r *model.Resource, spoke, hub *model.Package) (pairs []Pair) {
	for _, s := range r.Subresources {
		for _, p := range s.Payloads() {
			pair := Pair{p.In(spoke), p.In(hub)}
			if pair.In != nil && pair.Out != nil && !slices.Contains(pairs, pair) {
				pairs = append(pairs, pair)
			}
		}
	}
	return pairs
}

// brought reports whether a version of another module comes with functions that convert it to the hub and back.
func brought(version, hub *model.Type) bool {
	p := Pair{version, hub}
	return slices.ContainsFunc([]*model.Package{version.Package, hub.Package}, func(from *model.Package) bool {
		return from.ServedBy != nil && from.Func(p.Function()) != nil && from.Func(p.Reverse().Function()) != nil
	})
}

func listOf(t *model.Type) *model.Type {
	if t.Kind == nil {
		return nil
	}
	return t.Kind.ListType
}

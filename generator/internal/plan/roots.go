package plan

import (
	"go/token"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// addHandWritten asks for what functions of the package itself may call: autoConvert_a_X_To_b_X, of structs that no
// kind leads to but by way of them. Where all structs are converted, they are there anyway.
func (t *planner) addHandWritten() {
	if len(t.Package.ConversionPeers) > 0 {
		return
	}
	for _, f := range t.funcs.own {
		own := f.Pair.In.Package == t.Types || f.Pair.Out.Package == t.Types
		if _, written := t.Package.Declared["auto"+f.Name]; written {
			continue
		}
		if own && isStruct(f.Pair.In) && isStruct(f.Pair.Out) && !f.Drop && !slices.ContainsFunc(t.Roots, f.Pair.same) {
			t.Roots = append(t.Roots, f.Pair)
		}
	}
}

func (t *planner) addPeers() {
	pkg, errs := t.Package, &t.Invalid
	for _, path := range pkg.ConversionPeers {
		peer := t.universe.packages[path]
		if peer == nil {
			errs.Add(pkg.Pos, "package %s of +k8s:conversion-gen is not there: write the import path of the package "+
				"with the internal types", path)
			continue
		}
		if peer == pkg && len(pkg.ConversionPeers) > 1 {
			continue // packages name themselves so that conversion-gen finds their functions
		}
		if peer == t.Types && pkg == t.Types {
			errs.Add(pkg.Pos, "+k8s:conversion-gen=%s names the package itself: write the import path of the package "+
				"that it converts to", path)
			continue
		}
		if t.universe.program.Imports(peer, pkg) {
			if !shareNames(t.Types, peer) {
				continue // nothing here is converted to what it holds
			}
			errs.Add(pkg.Pos, "package %s of +k8s:conversion-gen imports this one, so that conversions here can't "+
				"import it: the hub must not know its versions", path)
			continue
		}
		if t.eachOther(peer) {
			errs.Add(pkg.Pos, "+k8s:conversion-gen=%s names a package that names this one, so that each would import "+
				"the other: take the marker off the hub, since its versions hold the functions of both directions",
				path)
			continue
		}
		if way := t.universe.way(peer, pkg); way != nil && shareNames(t.Types, peer) {
			errs.Add(pkg.Pos, "+k8s:conversion-gen=%s closes a ring of packages whose conversions would import one "+
				"another, %s -> %s: take the marker off one of them, the hub, and let all others name that one",
				path, pkg.Path, joinWay(way))
			continue
		}
		t.peers = append(t.peers, peer)
	}
}

func shareNames(of, peer *model.Package) bool {
	return slices.ContainsFunc(of.Types, func(t *model.Type) bool {
		other := peer.Type(t.Name)
		return other != nil && isStruct(t) && isStruct(other) && !t.ConversionOff && !other.ConversionOff
	})
}

// eachOther reports whether functions would be written into the package for a peer, and into the peer for the package:
// neither could import the other then.
func (t *planner) eachOther(peer *model.Package) bool {
	return slices.Contains(peer.ConversionPeers, t.Package.Path) && shareNames(typesOf(peer), t.Package) &&
		shareNames(t.Types, peer)
}

func typesOf(pkg *model.Package) *model.Package {
	if pkg.ConversionExternal != nil {
		return pkg.ConversionExternal
	}
	return pkg
}

// addNamesakes pairs every struct with the first peer's struct of the same name.
func (t *planner) addNamesakes() {
	for _, typ := range sortedTypes(t.Types) {
		if typ.ConversionOff {
			continue
		}
		for _, peer := range t.peers {
			other := peer.Type(typ.Name)
			if other == nil {
				continue
			}
			if isStruct(typ) && isStruct(other) && !other.ConversionOff {
				t.add(Pair{typ, other})
			}
			break
		}
	}
}

// unpaired are the kinds that nothing converts although the package names peers: no peer holds their hub, and no
// function is written for them.
func (t *planner) unpaired(kinds []Pair) []Pair {
	return slices.DeleteFunc(slices.Clone(kinds), func(p Pair) bool {
		return slices.Contains(t.Roots, p) || t.Package.Func(p.Function()) != nil ||
			slices.ContainsFunc(t.peers, func(peer *model.Package) bool { return peer.Type(p.In.Name) != nil })
	})
}

func (t *planner) addKinds(kinds []Pair) {
	seen := map[*model.Package]bool{}
	slices.SortFunc(kinds, func(a, b Pair) int { return ByName(a.In, b.In) })
	for _, p := range kinds {
		if hub := p.Out.Package; !seen[hub] {
			seen[hub] = true
			t.peers = append(t.peers, hub)
		}
		if !p.In.ConversionOff && !p.Out.ConversionOff {
			t.add(p)
		}
	}
}

func (t *planner) add(p Pair) { t.Roots = append(t.Roots, p, p.Reverse()) }

func (t *planner) addExplicit() {
	for _, typ := range sortedTypes(t.Types) {
		for _, ref := range typ.ConversionFrom {
			switch {
			case ref.Path != "net/url" || ref.Name != "Values":
				t.Invalid.Add(ref.Pos, "+k8s:conversion-gen:explicit-from=%s.%s: the only type to convert from is "+
					"net/url.Values", ref.Path, ref.Name)
			case typ.Form != model.Struct:
				t.Invalid.Add(ref.Pos, "+k8s:conversion-gen:explicit-from: %s is no struct", typ.Name)
			default:
				t.explicit = append(t.explicit, typ)
			}
		}
	}
}

// isStruct tells the types that get functions whether a kind leads to them or not.
func isStruct(t *model.Type) bool {
	return t.Form == model.Struct && t.Package != nil && len(t.TypeArgs) == 0 && token.IsExported(t.Name)
}

// ByName orders types by name.
func ByName(a, b *model.Type) int { return strings.Compare(a.Name, b.Name) }

func sortedTypes(p *model.Package) []*model.Type {
	return slices.SortedStableFunc(slices.Values(p.Types), ByName)
}

package conversion

import (
	"slices"
	"sort"
	"strings"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// task is the conversion file of one package.
type task struct {
	universe *universe
	// pkg gets the file, types holds the spoke's types: the same package, or the one of
	// +k8s:conversion-gen-external-types.
	pkg, types *model.Package
	peers      []*model.Package
	// pairs are those asked for, both directions, sorted by the spoke's type; more are found on the way.
	pairs []pair
	// explicit are the types of +k8s:conversion-gen:explicit-from=net/url.Values.
	explicit []*model.Type
	funcs    functions
	layouts  map[string]bool
}

// planned returns the task of every package that is a spoke.
func planned(program *model.Program, errs *emit.Errors) []*task {
	u := newUniverse(program)
	var tasks []*task
	u.stored = versionsWithoutHub(program)
	for _, p := range program.Packages {
		if t := newTask(u, p, u.stored[p.Path], errs); t != nil {
			tasks = append(tasks, t)
		}
	}
	for _, t := range tasks {
		for _, p := range t.pairs {
			if u.emitted[p.key()] == nil && t.funcs.find(p) == nil {
				u.emitted[p.key()] = t
			}
		}
	}
	return tasks
}

// versionsWithoutHub are, by package path, the kinds of versions that convert to the storage version. Where nothing is to
// be served, nobody asked for conversions: the packages are types for clients, or those of custom resources, whose
// storage version is kube-apiserver's affair.
func versionsWithoutHub(program *model.Program) map[string][]pair {
	pairs := map[string][]pair{}
	if !program.RuntimeAvailable {
		return pairs
	}
	for _, g := range program.Groups {
		if g.Internal != nil {
			continue
		}
		for _, r := range g.Resources {
			for _, v := range r.Versions {
				if r.Hub == nil || v.Type == r.Hub || v.Type.Package == r.Hub.Package {
					continue
				}
				if brought(v.Type, r.Hub) {
					continue
				}
				spoke, hub := v.Type, r.Hub
				if imports(program, hub.Package.Home(), spoke.Package.Home(), map[string]bool{}) {
					spoke, hub = hub, spoke // the version can't import what imports it: conversions stand beside the hub
				}
				path := spoke.Package.Home().Path
				pairs[path] = append(pairs[path], pair{spoke, hub})
				if l, other := listOf(spoke), listOf(hub); l != nil && other != nil {
					pairs[path] = append(pairs[path], pair{l, other})
				}
			}
		}
	}
	return pairs
}

// imports tells whether a package that the user owns imports another one, also by way of others.
func imports(program *model.Program, from, to *model.Package, seen map[string]bool) bool {
	if seen[from.Path] || !from.Output && (from.Module == nil || !from.Module.Own) {
		return false
	}
	seen[from.Path] = true
	if slices.Contains(from.Imports, to.Path) {
		return true
	}
	for _, p := range program.Packages {
		if slices.Contains(from.Imports, p.Path) && imports(program, p, to, seen) {
			return true
		}
	}
	return false
}

// brought tells whether a version of another module comes with functions that convert it to the hub and back.
func brought(version, hub *model.Type) bool {
	for _, from := range []*model.Package{version.Package, hub.Package} {
		if from.ServedBy != nil && from.Func(pair{version, hub}.function()) != nil && from.Func(pair{hub, version}.function()) != nil {
			return true
		}
	}
	return false
}

func listOf(t *model.Type) *model.Type {
	if t.Kind == nil {
		return nil
	}
	return t.Kind.ListType
}

// newTask returns nil where nothing says that the package is a spoke.
func newTask(u *universe, pkg *model.Package, kinds []pair, errs *emit.Errors) *task {
	t := &task{universe: u, pkg: pkg, types: heldBy(pkg), layouts: map[string]bool{}}
	switch {
	case len(pkg.ConversionPeers) > 0:
		t.addPeers(pkg, errs)
		t.addNamesakes()
	case pkg.ConversionOff:
	case len(kinds) > 0:
		t.addKinds(kinds)
	default:
		return nil
	}
	t.addExplicit(errs)
	t.funcs = findFunctions(u, pkg, append([]*model.Package{pkg, t.types}, t.peers...))
	t.addHandWritten()
	return t
}

// addHandWritten asks for what functions of the package itself may call: autoConvert_a_X_To_b_X, of structs that no kind
// leads to but by way of them. Where all structs are converted, they are there anyway.
func (t *task) addHandWritten() {
	if len(t.pkg.ConversionPeers) > 0 {
		return
	}
	known := map[string]bool{}
	for _, p := range t.pairs {
		known[p.key()] = true
	}
	for _, f := range t.funcs.own {
		own := f.pair.in.Package == t.types || f.pair.out.Package == t.types
		if _, written := t.pkg.Declared["auto"+f.name]; written {
			continue
		}
		if own && isStruct(f.pair.in) && isStruct(f.pair.out) && !f.drop && !known[f.pair.key()] {
			t.pairs = append(t.pairs, f.pair)
		}
	}
}

func (t *task) addPeers(pkg *model.Package, errs *emit.Errors) {
	for _, path := range pkg.ConversionPeers {
		peer := t.universe.packages[path]
		if peer == nil {
			errs.Add(pkg.Pos, "package %s of +k8s:conversion-gen is not there: write the import path of the package with the internal types", path)
			continue
		}
		if peer == pkg && len(pkg.ConversionPeers) > 1 {
			continue // packages name themselves so that conversion-gen finds their functions
		}
		if peer == t.types && pkg == t.types {
			errs.Add(pkg.Pos, "+k8s:conversion-gen=%s names the package itself: write the import path of the package that it converts to", path)
			continue
		}
		if imports(t.universe.program, peer, pkg, map[string]bool{}) {
			if !shareNames(t.types, peer) {
				continue // nothing here is converted to what it holds
			}
			errs.Add(pkg.Pos, "package %s of +k8s:conversion-gen imports this one, so that conversions here can't import it: the hub must not know its versions", path)
			continue
		}
		if t.eachOther(peer) {
			errs.Add(pkg.Pos, "+k8s:conversion-gen=%s names a package that names this one, so that each would import the other: take the marker off the hub, since its versions hold the functions of both directions", path)
			continue
		}
		if way := t.universe.way(peer, pkg); way != nil && shareNames(t.types, peer) {
			errs.Add(pkg.Pos, "+k8s:conversion-gen=%s closes a ring of packages whose conversions would import one another, %s -> %s: take the marker off one of them, the hub, and let all others name that one", path, pkg.Path, strings.Join(way, " -> "))
			continue
		}
		t.peers = append(t.peers, peer)
	}
}

// shareNames tells whether a package has a struct that a peer's would be paired with.
func shareNames(of, peer *model.Package) bool {
	return slices.ContainsFunc(of.Types, func(t *model.Type) bool {
		other := peer.Type(t.Name)
		return other != nil && isStruct(t) && isStruct(other) && !t.ConversionOff && !other.ConversionOff
	})
}

// eachOther tells whether functions would be written into the package for a peer, and into the peer for the package: neither
// could import the other then.
func (t *task) eachOther(peer *model.Package) bool {
	return slices.Contains(peer.ConversionPeers, t.pkg.Path) && shareNames(heldBy(peer), t.pkg) && shareNames(t.types, peer)
}

// heldBy is the package with the types that conversions written into a package are of.
func heldBy(pkg *model.Package) *model.Package {
	if pkg.ConversionExternal != nil {
		return pkg.ConversionExternal
	}
	return pkg
}

// addNamesakes pairs every struct with the first peer's struct of the same name.
func (t *task) addNamesakes() {
	for _, typ := range sortedTypes(t.types) {
		if typ.ConversionOff {
			continue
		}
		for _, peer := range t.peers {
			other := peer.Type(typ.Name)
			if other == nil {
				continue
			}
			if isStruct(typ) && isStruct(other) && !other.ConversionOff {
				t.add(pair{typ, other})
			}
			break
		}
	}
}

func (t *task) addKinds(kinds []pair) {
	seen := map[*model.Package]bool{}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].in.Name < kinds[j].in.Name })
	for _, p := range kinds {
		if hub := p.out.Package; !seen[hub] {
			seen[hub] = true
			t.peers = append(t.peers, hub)
		}
		if !p.in.ConversionOff && !p.out.ConversionOff {
			t.add(p)
		}
	}
}

func (t *task) add(p pair) { t.pairs = append(t.pairs, p, p.reverse()) }

func (t *task) addExplicit(errs *emit.Errors) {
	for _, typ := range sortedTypes(t.types) {
		for _, ref := range typ.ConversionFrom {
			switch {
			case ref.Path != "net/url" || ref.Name != "Values":
				errs.Add(ref.Pos, "+k8s:conversion-gen:explicit-from=%s.%s: the only type to convert from is net/url.Values", ref.Path, ref.Name)
			case typ.Form != model.Struct:
				errs.Add(ref.Pos, "+k8s:conversion-gen:explicit-from: %s is no struct", typ.Name)
			default:
				t.explicit = append(t.explicit, typ)
			}
		}
	}
}

// isStruct tells the types that get functions whether a kind leads to them or not.
func isStruct(t *model.Type) bool {
	return t.Form == model.Struct && t.Package != nil && len(t.TypeArgs) == 0 && exported(t.Name)
}

func exported(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

func sortedTypes(p *model.Package) []*model.Type {
	types := append([]*model.Type(nil), p.Types...)
	sort.SliceStable(types, func(i, j int) bool { return types[i].Name < types[j].Name })
	return types
}

// Emitted returns what tells whether a function that converts in to out is written into a package, so that who calls it
// can say what is missing without asking this emitter to run.
func Emitted(program *model.Program) func(home *model.Package, in, out *model.Type) bool {
	tasks := planned(program, &emit.Errors{})
	return func(home *model.Package, in, out *model.Type) bool {
		for _, t := range tasks {
			for _, p := range t.pairs {
				if t.pkg == home && p.in == in && p.out == out {
					return true
				}
			}
		}
		return false
	}
}

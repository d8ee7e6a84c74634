package plan

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
)

// Conversions are what one package converts: the content of its file of conversions.
type Conversions struct {
	// Package gets the file. Types holds the spoke's types: the same package, or the one of
	// +k8s:conversion-gen-external-types.
	Package, Types *model.Package
	// Roots are the pairs asked for, in both directions, by the spoke's type. Functions are the functions of the file
	// in their order: those of the roots, and those that they call.
	Roots     []Pair
	Functions []*Conversion
	// FromQuery are the types that the query of a request is converted to.
	FromQuery []*QueryConversion
	// ByHand are the hand-written conversion functions of the package, by name.
	ByHand []*Converter
	// Casts are the pairs whose values are taken for one another as they lie in memory.
	Casts []Pair
	// Losses are those of the spoke's kinds.
	Losses []Losses
	// Invalid are markers that can't mean anything. Faults are fields that can't be converted, and names that are
	// taken.
	Invalid, Faults diag.Errors
}

// Empty tells whether there is nothing to write.
func (c *Conversions) Empty() bool {
	return len(c.Functions)+len(c.FromQuery)+len(c.ByHand) == 0
}

// Has tells whether a function for the pair was asked for.
func (c *Conversions) Has(p Pair) bool { return slices.Contains(c.Roots, p) }

// Of returns the conversion of a pair of structs for which a function is written; nil where there is none.
func (c *Conversions) Of(p Pair) *Conversion {
	for _, f := range c.Functions {
		if f.Pair == p {
			return f
		}
	}
	return nil
}

// planner decides the conversions of one package.
type planner struct {
	*Conversions
	universe *universe
	peers    []*model.Package
	// explicit are the types of +k8s:conversion-gen:explicit-from=net/url.Values.
	explicit []*model.Type
	funcs    functions
	layouts  map[string]bool
	// between are the conversions of pairs of structs that were decided, whether or not a function is written for them.
	between map[Pair]*Conversion
	// active are the pairs of lists and maps that are being decided.
	active map[string]bool
	// carried are the fields that annotations carry.
	carried map[*model.Field]bool
	// taken are the names of the file's functions.
	taken map[string]bool
}

// conversionPlan decides the conversions of all packages that are spokes.
type conversionPlan struct {
	universe *universe
	planners []*planner
	// invalid are the faults of markers.
	invalid diag.Errors
}

func newConversionPlan(program *model.Program) *conversionPlan {
	u := newUniverse(program)
	u.stored = versionsWithoutHub(program)
	c := &conversionPlan{universe: u}
	for _, p := range program.Packages {
		if t := newPlanner(u, p, u.stored[p.Path]); t != nil {
			c.planners = append(c.planners, t)
		}
	}
	for _, t := range c.planners {
		for _, p := range t.Roots {
			if u.emitted[p.Key()] == nil && t.funcs.find(p) == nil {
				u.emitted[p.Key()] = t
			}
		}
	}
	c.invalid = checkPreserved(c.planners)
	for _, t := range c.planners {
		c.invalid = append(c.invalid, t.Invalid...)
		t.functions()
		t.queries()
		for _, p := range t.kinds() {
			t.Losses = append(t.Losses, t.lossesOf(p))
		}
	}
	return c
}

// conversions are those of the packages, in the order of the program.
func (c *conversionPlan) conversions() []*Conversions {
	var out []*Conversions
	for _, t := range c.planners {
		out = append(out, t.Conversions)
	}
	return out
}

// conversion is the tree of a pair of kinds, as the package has it that converts them; that of a pair which no package
// here converts is made for its readers.
func (c *conversionPlan) conversion(p Pair) *Conversion {
	for _, t := range c.planners {
		if t.Has(p) {
			return t.conversion(p)
		}
	}
	return emptyPlanner(c.universe, p.In.Package).conversion(p)
}

// functions decides the functions of the roots, and of the pairs of structs that they lead to.
func (t *planner) functions() {
	t.taken = map[string]bool{}
	t.checkDeclared("RegisterConversions", "remove it, or take +k8s:conversion-gen away")
	t.carried = t.preserved().homeless
	for _, p := range t.Roots {
		t.request(t.conversion(p))
	}
	for i := 0; i < len(t.Functions); i++ { // more are found on the way
		t.function(t.Functions[i])
	}
	t.sort()
}

// request asks for a function for the pair and gives it a name: the public one where one of the types is the spoke's, a
// private one for types of other packages.
func (t *planner) request(c *Conversion) {
	if c.Name != "" {
		return
	}
	c.Name, c.Public = c.Pair.Function(), t.concerned(c.Pair)
	if !c.Public {
		c.Name = "convert" + strings.TrimPrefix(c.Name, "Convert")
		for n := 2; t.taken[c.Name]; n++ {
			c.Name = fmt.Sprintf("convert%s_%d", strings.TrimPrefix(c.Pair.Function(), "Convert"), n)
		}
	}
	if t.taken[c.Name] {
		t.Faults.Add(c.In.Pos, "%s of %s and another pair of types would both be converted by %s: packages whose "+
			"paths end alike need hand-written functions",
			Text(c.In, t.Package), Text(c.Out, t.Package), c.Name)
	}
	t.taken[c.Name] = true
	t.Functions = append(t.Functions, c)
}

// concerned tells whether one of the types is the spoke's own.
func (t *planner) concerned(p Pair) bool { return t.spokes(p.In) || t.spokes(p.Out) }

// function finds what the function of a pair needs, and what it can't convert.
func (t *planner) function(c *Conversion) {
	c.ByHand = t.funcs.find(c.Pair) != nil
	if c.Method != "" {
		t.checkDeclared(c.Name, "write it as "+c.signature(t.Package)+", or rename it")
		return
	}
	if c.Cast {
		t.cast(c.Pair)
	} else {
		t.needs(c.Fields)
		c.Problems = problemsOf(c.Fields)
	}
	if !c.ByHand {
		for _, x := range c.Problems {
			t.Faults.Add(x.pos, "%s", t.message(c.Pair, x))
		}
	}
	c.Carriers = t.carriers(c)
	if !c.Public {
		return
	}
	t.checkDeclared("auto"+c.Name, "rename it: conversions are generated under that name")
	if !c.ByHand {
		t.checkDeclared(c.Name, "write it as "+c.signature(t.Package)+", or rename it")
	}
}

// needs requests the functions that the moves of fields call, and notes their casts.
func (t *planner) needs(fields []*FieldMove) {
	for _, f := range fields {
		if f.Fate == Missing && t.carried[f.Field] {
			f.Fate = Carried
		}
		if f.Fate == Moved {
			t.need(f.Move)
		}
	}
}

func (t *planner) need(m *Move) {
	switch {
	case m == nil || m.Kind == Call || m.Keys != nil:
	case m.Kind == CallConversion:
		if m.Home == nil {
			t.request(m.Conversion)
		}
	case m.Kind == Cast:
		t.cast(m.Pair)
	case m.Kind == InPlace:
		t.needs(m.Fields)
	default:
		t.need(m.Elem)
	}
}

// cast notes a pair whose values are taken for one another, unless Go converts them.
func (t *planner) cast(p Pair) {
	if !Convertible(p.In, p.Out) {
		t.Casts = append(t.Casts, p)
	}
}

// checkDeclared refuses a name that hand-written code uses for something else.
func (t *planner) checkDeclared(name, remedy string) {
	if pos, ok := t.Package.Declared[name]; ok {
		t.Faults.Add(pos, "%s is declared here: %s", name, remedy)
	}
}

// sort orders functions by the spoke's type, conversions to the hub first.
func (t *planner) sort() {
	order := func(p Pair) (string, int) {
		switch {
		case t.spokes(p.In):
			return p.In.Name, 0
		case t.spokes(p.Out):
			return p.Out.Name, 1
		}
		return p.In.Name, 2
	}
	slices.SortStableFunc(t.Functions, func(x, y *Conversion) int {
		a, m := order(x.Pair)
		b, n := order(y.Pair)
		return cmp.Or(strings.Compare(a, b), cmp.Compare(m, n), strings.Compare(x.Key(), y.Key()))
	})
}

// versionsWithoutHub are, by package path, the kinds of versions that convert to the storage version. Where nothing is
// to be served, nobody asked for conversions: the packages are types for clients, or those of custom resources, whose
// storage version is kube-apiserver's affair.
func versionsWithoutHub(program *model.Program) map[string][]Pair {
	pairs := map[string][]Pair{}
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
					spoke, hub = hub, spoke // the hub imports the version: conversions stand beside the hub
				}
				path := spoke.Package.Home().Path
				pairs[path] = append(pairs[path], Pair{spoke, hub})
				if l, other := listOf(spoke), listOf(hub); l != nil && other != nil {
					pairs[path] = append(pairs[path], Pair{l, other})
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
		if from.ServedBy != nil && from.Func(Pair{version, hub}.Function()) != nil &&
			from.Func(Pair{hub, version}.Function()) != nil {
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

func emptyPlanner(u *universe, pkg *model.Package) *planner {
	return &planner{
		Conversions: &Conversions{Package: pkg, Types: typesOf(pkg)},
		universe:    u, layouts: map[string]bool{}, between: map[Pair]*Conversion{}, active: map[string]bool{},
	}
}

// newPlanner returns nil where nothing says that the package is a spoke.
func newPlanner(u *universe, pkg *model.Package, kinds []Pair) *planner {
	t := emptyPlanner(u, pkg)
	switch {
	case len(pkg.ConversionPeers) > 0:
		t.addPeers()
		t.addNamesakes()
	case pkg.ConversionOff:
	case len(kinds) > 0:
		t.addKinds(kinds)
	default:
		return nil
	}
	t.addExplicit()
	t.funcs = findFunctions(u, pkg, append([]*model.Package{pkg, t.Types}, t.peers...))
	t.addHandWritten()
	t.ByHand = slices.SortedFunc(slices.Values(t.funcs.own),
		func(a, b *Converter) int { return strings.Compare(a.Name, b.Name) })
	return t
}

// addHandWritten asks for what functions of the package itself may call: autoConvert_a_X_To_b_X, of structs that no
// kind leads to but by way of them. Where all structs are converted, they are there anyway.
func (t *planner) addHandWritten() {
	if len(t.Package.ConversionPeers) > 0 {
		return
	}
	known := map[string]bool{}
	for _, p := range t.Roots {
		known[p.Key()] = true
	}
	for _, f := range t.funcs.own {
		own := f.Pair.In.Package == t.Types || f.Pair.Out.Package == t.Types
		if _, written := t.Package.Declared["auto"+f.Name]; written {
			continue
		}
		if own && isStruct(f.Pair.In) && isStruct(f.Pair.Out) && !f.Drop && !known[f.Pair.Key()] {
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
		if imports(t.universe.program, peer, pkg, map[string]bool{}) {
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
				path, pkg.Path, strings.Join(way, " -> "))
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

// eachOther tells whether functions would be written into the package for a peer, and into the peer for the package:
// neither could import the other then.
func (t *planner) eachOther(peer *model.Package) bool {
	return slices.Contains(peer.ConversionPeers, t.Package.Path) && shareNames(typesOf(peer), t.Package) &&
		shareNames(t.Types, peer)
}

// typesOf is the package with the types that conversions written into a package are of.
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

func (t *planner) addKinds(kinds []Pair) {
	seen := map[*model.Package]bool{}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].In.Name < kinds[j].In.Name })
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
	return t.Form == model.Struct && t.Package != nil && len(t.TypeArgs) == 0 && exported(t.Name)
}

func exported(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

func sortedTypes(p *model.Package) []*model.Type {
	types := append([]*model.Type(nil), p.Types...)
	sort.SliceStable(types, func(i, j int) bool { return types[i].Name < types[j].Name })
	return types
}

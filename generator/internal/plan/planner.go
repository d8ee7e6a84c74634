package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

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
	// prunes: +apigen:conversion:prune lets conversions lose the fields that one side lacks.
	prunes bool
	// taken are the names of the file's functions.
	taken map[string]bool
}

func emptyPlanner(u *universe, pkg *model.Package) *planner {
	return &planner{
		Conversions: &Conversions{Package: pkg, Types: typesOf(pkg)},
		universe:    u, layouts: map[string]bool{}, between: map[Pair]*Conversion{}, active: map[string]bool{},
	}
}

// newPlanner returns nil if nothing says that the package is a spoke.
func newPlanner(u *universe, pkg *model.Package, kinds []Pair) *planner {
	t := emptyPlanner(u, pkg)
	switch {
	case len(pkg.ConversionPeers) > 0:
		t.addPeers()
		t.addNamesakes()
		t.addKinds(t.unpaired(kinds))
	case pkg.ConversionOff:
	case len(kinds) > 0:
		t.addKinds(kinds)
	default:
		return nil
	}
	t.addExplicit()
	t.funcs = findFunctions(u, pkg, append([]*model.Package{pkg, t.Types}, t.peers...))
	t.addHandWritten()
	t.prunes = len(t.pruning()) > 0
	t.ByHand = slices.SortedFunc(slices.Values(t.funcs.own),
		func(a, b *Converter) int { return strings.Compare(a.Name, b.Name) })
	return t
}

func (t *planner) functions() {
	t.taken = map[string]bool{}
	t.checkDeclared("RegisterConversions", "remove it, or take +k8s:conversion-gen away")
	t.carried = preserved(t.ofKinds()...).homeless
	for _, p := range t.Roots {
		t.request(t.conversion(p))
	}
	for i := 0; i < len(t.Functions); i++ { // more are found on the way
		t.function(t.Functions[i])
	}
	t.sort()
	t.reportUnconverted()
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
			model.TextIn(t.Package, c.In), model.TextIn(t.Package, c.Out), c.Name)
	}
	t.taken[c.Name] = true
	t.Functions = append(t.Functions, c)
}

func (t *planner) concerned(p Pair) bool { return t.spokes(p.In) || t.spokes(p.Out) }

func (t *planner) function(c *Conversion) {
	c.ByHand = t.funcs.find(c.Pair) != nil
	if c.Method != "" {
		t.checkDeclared(c.Name, "write it as "+c.signature(t.Package)+", or rename it")
		return
	}
	if c.Cast {
		t.cast(c.Pair)
	} else {
		if c.ByHand {
			t.leave(c)
		}
		t.needs(c.Fields)
		c.Problems = problemsOf(c.Fields)
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
	case m == nil || m.Keys != nil:
	case m.Kind == Call:
		t.checkCall(m.By)
	case m.Kind == CallConversion:
		if m.Home == nil {
			t.request(m.Conversion)
		}
	case m.Kind == Cast:
		t.cast(m.Pair)
	case m.Kind == InPlace:
		t.needs(m.Conversion.Fields)
	default:
		t.need(m.Elem)
	}
}

// cast notes a pair whose values are taken for one another, unless Go converts them.
func (t *planner) cast(p Pair) {
	if !model.Convertible(p.In, p.Out) {
		t.Casts = append(t.Casts, p)
	}
}

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

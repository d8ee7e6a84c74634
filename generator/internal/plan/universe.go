package plan

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// universe is every package that the program's types lead to.
type universe struct {
	program  *model.Program
	packages map[string]*model.Package
	reached  map[string]map[string]*model.Package
	// stored are the kinds that are converted to their storage version, by the path of the package that does it.
	stored map[string][]Pair
	// calls are the packages whose hand-written functions are called by what is written into a package.
	calls map[*model.Package][]*model.Package
	// emitted are the pairs whose public function another run over the same program writes, by key.
	emitted map[string]*planner
}

func newUniverse(program *model.Program) *universe {
	u := &universe{
		program:  program,
		packages: map[string]*model.Package{},
		reached:  map[string]map[string]*model.Package{},
		calls:    map[*model.Package][]*model.Package{},
		emitted:  map[string]*planner{},
		stored:   versionsWithoutHub(program),
	}
	w := walker{types: map[*model.Type]bool{}, packages: u.packages}
	for _, p := range program.Packages {
		w.pkg(p)
	}
	for _, g := range program.Groups {
		w.pkg(g.Internal)
		for _, p := range g.Packages() {
			w.pkg(p)
		}
	}
	return u
}

func (u *universe) reaches(from, to *model.Package) bool {
	if u.reached[from.Path] == nil {
		w := walker{types: map[*model.Type]bool{}, packages: map[string]*model.Package{}}
		w.pkg(from)
		u.reached[from.Path] = w.packages
	}
	return u.reached[from.Path][to.Path] != nil
}

// way is the shortest one from a package to another, by their paths, over what packages import, or would for the
// conversions written into them; nil if there is none.
func (u *universe) way(from, to *model.Package) []string {
	before := map[*model.Package]*model.Package{from: nil}
	for queue := []*model.Package{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			var out []string
			for p := to; p != nil; p = before[p] {
				out = append(out, p.Path)
			}
			slices.Reverse(out)
			return out
		}
		for _, p := range u.imports(queue[0]) {
			if _, seen := before[p]; !seen {
				before[p] = queue[0]
				queue = append(queue, p)
			}
		}
	}
	return nil
}

// call notes that code which is written into a package calls a function of another one. Where that one leads back to
// the package, so that it can't be imported, call notes nothing and returns the way.
func (u *universe) call(from, to *model.Package) []string {
	if from == to || slices.Contains(u.calls[from], to) {
		return nil
	}
	if way := u.way(to, from); way != nil {
		return way
	}
	u.calls[from] = append(u.calls[from], to)
	return nil
}

func joinWay(way []string) string { return strings.Join(way, " -> ") }

func (u *universe) imports(p *model.Package) []*model.Package {
	out := slices.Clone(u.calls[p])
	for _, path := range slices.Concat(p.Imports, p.Depends) {
		if q := u.packages[path]; q != nil {
			out = append(out, q)
		}
	}
	if len(p.ConversionPeers) == 0 && !p.ConversionOff {
		for _, k := range u.stored[p.Path] {
			out = append(out, k.Out.Package)
		}
	}
	for _, path := range p.ConversionPeers {
		if q := u.packages[path]; q != nil && q != p && shareNames(typesOf(p), q) {
			out = append(out, q)
		}
	}
	return out
}

type walker struct {
	types    map[*model.Type]bool
	packages map[string]*model.Package
}

func (w *walker) pkg(p *model.Package) {
	if p == nil || w.packages[p.Path] != nil {
		return
	}
	w.packages[p.Path] = p
	w.pkg(p.ConversionExternal)
	for _, peer := range p.Peers {
		w.pkg(peer)
	}
	for _, t := range p.Types {
		w.typ(t)
	}
	for _, f := range p.Funcs {
		for _, t := range f.Params {
			w.typ(t)
		}
	}
}

func (w *walker) typ(t *model.Type) {
	if t == nil || w.types[t] {
		return
	}
	w.types[t] = true
	w.pkg(t.Package)
	w.typ(t.Elem)
	w.typ(t.Key)
	for _, f := range t.Fields {
		w.typ(f.Type)
	}
	for _, a := range t.TypeArgs {
		w.typ(a)
	}
}

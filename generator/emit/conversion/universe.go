package conversion

import (
	"sort"

	"apigen.dev/generator/model"
)

// universe is every package that the program's types lead to.
type universe struct {
	program  *model.Program
	packages map[string]*model.Package
	reached  map[string]map[string]bool
	// emitted are the pairs whose public function another run over the same program writes, by key.
	emitted map[string]*task
}

func newUniverse(program *model.Program) *universe {
	u := &universe{
		program:  program,
		packages: map[string]*model.Package{},
		reached:  map[string]map[string]bool{},
		emitted:  map[string]*task{},
	}
	w := walker{types: map[*model.Type]bool{}, packages: u.packages}
	for _, p := range program.Packages {
		w.pkg(p)
	}
	for _, g := range program.Groups {
		w.pkg(g.Internal)
		for _, v := range g.Versions {
			w.pkg(v.Package)
		}
	}
	return u
}

// sorted are the packages by path.
func (u *universe) sorted() []*model.Package {
	all := make([]*model.Package, 0, len(u.packages))
	for _, p := range u.packages {
		all = append(all, p)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Path < all[j].Path })
	return all
}

// reaches tells whether the package's types and functions lead to the other one, which therefore can't import it.
func (u *universe) reaches(from, to *model.Package) bool {
	seen, ok := u.reached[from.Path]
	if !ok {
		w := walker{types: map[*model.Type]bool{}, packages: map[string]*model.Package{}}
		w.pkg(from)
		seen = map[string]bool{}
		for path := range w.packages {
			seen[path] = true
		}
		u.reached[from.Path] = seen
	}
	return seen[to.Path]
}

// walker collects packages by following types.
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

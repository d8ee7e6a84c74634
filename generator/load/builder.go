package load

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
)

// builder makes the model from the type-checked universe.
type builder struct {
	l        *loader
	errs     diag.Errors
	warnings diag.Errors

	packages map[string]*model.Package
	modules  map[string]*model.Module
	named    map[string]*model.Type
	shapes   map[types.Type]*model.Type
	notes    map[string]*notes
	parsed   map[string]bool
	// pending are named types whose fields are yet to be read.
	pending  []expansion
	expanded map[*model.Type]bool
}

type expansion struct {
	to   *model.Type
	from *types.Named
}

func newBuilder(l *loader) *builder {
	return &builder{
		l:        l,
		packages: map[string]*model.Package{},
		modules:  map[string]*model.Module{},
		named:    map[string]*model.Type{},
		shapes:   map[types.Type]*model.Type{},
		notes:    map[string]*notes{},
		parsed:   map[string]bool{},
		expanded: map[*model.Type]bool{},
	}
}

// program builds everything.
func (b *builder) program() *model.Program {
	prog := &model.Program{Header: b.l.Header, RuntimeAvailable: b.runtimeAvailable(), Lenient: b.l.Lenient}
	for _, path := range b.l.rootPaths() {
		prog.Packages = append(prog.Packages, b.root(b.l.sources[path]))
	}
	for i, path := range b.l.rootPaths() {
		b.declarations(prog.Packages[i], b.l.sources[path])
	}
	b.expand()
	for _, p := range prog.Packages {
		b.resolvePackage(p)
	}
	b.leaveKinds(prog.Packages)
	b.expand()
	b.foreignHooks()
	prog.Groups = b.groups(prog.Packages)
	b.expand()
	prog.Clients = b.clients(prog)
	b.celAvailable(prog)
	clients := slices.ContainsFunc(prog.Packages, func(p *model.Package) bool { return p.Clients })
	for _, p := range prog.Packages {
		p.RegistersInInit = p.RegistersInInit && !prog.RuntimeAvailable && !clients
	}
	b.contradictions(prog)
	b.unserved(prog)
	return prog
}

func (b *builder) runtimeAvailable() bool {
	for _, path := range b.l.RuntimeImports {
		m := b.l.metas[path]
		if m == nil || len(m.GoFiles) == 0 {
			return false
		}
	}
	return b.l.runtime
}

// position is a place in the source.
func (b *builder) position(pos token.Pos) model.Position { return b.l.fset.Position(pos) }

func (b *builder) errorf(pos model.Position, format string, args ...any) {
	b.errs.Add(pos, format, args...)
}

// byPosition sorts objects in the order of the source: by file, and within it by place.
func (b *builder) byPosition(x, y types.Object) int {
	p, q := b.position(x.Pos()), b.position(y.Pos())
	return cmp.Or(cmp.Compare(p.Filename, q.Filename), cmp.Compare(p.Offset, q.Offset), cmp.Compare(p.Line, q.Line), cmp.Compare(x.Name(), y.Name()))
}

func (b *builder) sorted(objs []types.Object) []types.Object {
	slices.SortFunc(objs, b.byPosition)
	return objs
}

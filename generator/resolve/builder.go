package resolve

import (
	"cmp"
	"go/types"
	"maps"
	"slices"

	"apigen.dev/generator/load"
	"apigen.dev/generator/model"
)

// typeBuilder turns Go's packages, types and functions into the model's.
type typeBuilder struct {
	*faults

	packages map[string]*model.Package
	named    map[string]*model.Type
	shapes   map[types.Type]*model.Type
	// markers counts those that were read of dependencies.
	markers map[*model.Package]int
	// pending are named types whose fields are yet to be read.
	pending  []expansion
	expanded map[*model.Type]bool
}

type expansion struct {
	to   *model.Type
	from *types.Named
}

func newTypeBuilder(f *faults) *typeBuilder {
	return &typeBuilder{
		faults:   f,
		packages: map[string]*model.Package{},
		named:    map[string]*model.Type{},
		shapes:   map[types.Type]*model.Type{},
		markers:  map[*model.Package]int{},
		expanded: map[*model.Type]bool{},
	}
}

// packagesOf builds packages that are read from source. All are there before the declarations of the first are read:
// those of one package lead to types of others, about which the markers of their packages have a say.
func (b *typeBuilder) packagesOf(roots []*load.Source) []*model.Package {
	var out []*model.Package
	for _, s := range roots {
		out = append(out, b.root(s))
	}
	for i, s := range roots {
		if s.Types != nil && !s.Shallow {
			b.scope(out[i], s.Types, s)
		}
	}
	b.expand()
	return out
}

// all returns the named types that were met, by name.
func (b *typeBuilder) all() []*model.Type {
	var out []*model.Type
	for _, key := range slices.Sorted(maps.Keys(b.named)) {
		out = append(out, b.named[key])
	}
	return out
}

// byPosition sorts objects in the order of the source: by file, and within it by place.
func (b *typeBuilder) byPosition(x, y types.Object) int {
	p, q := b.u.Position(x.Pos()), b.u.Position(y.Pos())
	return cmp.Or(
		cmp.Compare(p.Filename, q.Filename), cmp.Compare(p.Offset, q.Offset), cmp.Compare(p.Line, q.Line),
		cmp.Compare(x.Name(), y.Name()),
	)
}

func (b *typeBuilder) sorted(objs []types.Object) []types.Object {
	slices.SortFunc(objs, b.byPosition)
	return objs
}

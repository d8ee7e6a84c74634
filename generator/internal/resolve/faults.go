package resolve

import (
	"fmt"
	"go/types"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/model"
)

// faults takes what is found wrong while the model is made. A fault of a package is an error where the user can mend
// it, and wants to; else a warning.
type faults struct {
	u       *load.Universe
	lenient bool

	errs, warnings diag.Errors
	// invalid are the fields whose types don't compile.
	invalid diag.Errors
}

// errorf reports what keeps output from being written.
func (f *faults) errorf(pos model.Position, format string, args ...any) {
	f.errs.Add(pos, format, args...)
}

// warnf reports what doesn't.
func (f *faults) warnf(pos model.Position, format string, args ...any) {
	f.warnings.Add(pos, format, args...)
}

// fault reports what is wrong with a package; its position may be in another one.
func (f *faults) fault(p *model.Package, pos model.Position, format string, args ...any) {
	f.add(p, diag.Error{Pos: pos, Message: fmt.Sprintf(format, args...)})
}

func (f *faults) add(p *model.Package, e diag.Error) {
	if e.Lenient = !f.lenient && f.editable(p, e.Pos); e.Lenient {
		f.errs = append(f.errs, e)
	} else {
		e.Unenforced = diag.Markers
		f.warnings = append(f.warnings, e)
	}
}

// editable reports whether the user can edit the source of a fault of a package: it is theirs, or another module's that
// they serve, with markers of their own that stand in their module.
func (f *faults) editable(p *model.Package, pos model.Position) bool {
	if s := f.rootOf(p); s != nil {
		return s.Own()
	}
	return p == nil || p.Module == nil || p.Module.Own || !strings.HasPrefix(pos.Filename, p.Module.Dir)
}

// marked reports the faults of markers of a package. Those of packages that aren't read from source are not the user's.
func (f *faults) marked(p *model.Package, errs diag.Errors) {
	if f.rootOf(p) == nil {
		return
	}
	for _, e := range errs {
		f.add(p, e)
	}
}

// rootOf returns the source of a package; nil for one that isn't read from source.
func (f *faults) rootOf(p *model.Package) *load.Source {
	if p == nil {
		return nil
	}
	return f.u.Root(p.Path)
}

// lookup returns what a package declares under a name: a *types.TypeName, a *types.Const. Any other object, and a
// package that can't be imported, is the zero value.
func lookup[T types.Object](u *load.Universe, path, name string) (found T, err error) {
	p, err := u.Import(path)
	if err != nil {
		return found, err
	}
	found, _ = p.Scope().Lookup(name).(T)
	return found, nil
}

// Error reports an error of the model, which --lenient doesn't make a warning.
func (f *faults) Error(e diag.Error) { f.errs = append(f.errs, e) }

// Fault reports a fault of a package's model: a warning where the user can't edit the package.
func (f *faults) Fault(p *model.Package, e diag.Error) {
	if f.rootOf(p) == nil {
		f.warnings = append(f.warnings, e)
		return
	}
	f.add(p, e)
}

// Warning reports what keeps nothing from being generated. Users aren't warned of packages that others write.
func (f *faults) Warning(p *model.Package, e diag.Error) {
	if s := f.rootOf(p); s == nil || s.Own() {
		f.warnings = append(f.warnings, e)
	}
}

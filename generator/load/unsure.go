package load

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
)

// Users see all that is wrong in one run, and nothing that only follows from something else. So a package that doesn't
// parse, or isn't there, is set aside with all that hang together with it; of one whose declarations don't compile only
// what its markers say is told beside that. All others are read as ever.

// program makes the model; nil where that can't be done of packages that are at fault. A type without a size, which holds
// itself, is a road without an end for whoever reads it.
func (l *loader) program(b *builder) (p *model.Program) {
	if slices.ContainsFunc(l.errs, func(e diag.Error) bool {
		return strings.HasPrefix(e.Message, recursive) || strings.HasPrefix(e.Message, importCycle) || strings.HasPrefix(e.Message, "instantiation cycle")
	}) {
		return nil
	}
	if l.errs != nil {
		defer func() {
			if recover() != nil {
				p = nil // what could be said of it, was
			}
		}()
	}
	return b.program()
}

// faults are all that were found; none is nil.
func (l *loader) faults(b *builder) diag.Errors {
	if l.errs == nil {
		if b.errs == nil {
			return nil
		}
		return append(l.causes, l.firstUntold(b.errs)...)
	}
	broken, told := l.around(func(s *source) bool { return s.broken }), map[lineOf]bool{}
	dirs := l.dirs(broken)
	for _, e := range l.errs {
		told[lineOf{e.Pos.Filename, e.Pos.Line}] = true
	}
	out := append(l.errs, l.markerFaults()...)
	for _, e := range b.errs {
		if !dirs[filepath.Dir(e.Pos.Filename)] && !told[lineOf{e.Pos.Filename, e.Pos.Line}] && !strings.HasPrefix(e.Message, untold) {
			out = append(out, e)
		}
	}
	return out
}

// firstUntold leaves one of the fields of a package whose types don't compile, for all have one cause; none where that is told.
func (l *loader) firstUntold(errs diag.Errors) diag.Errors {
	var sorted, out diag.Errors
	errors.As(errs.Err(), &sorted)
	first, more := map[string]int{}, map[string]int{}
	for _, e := range sorted {
		dir := filepath.Dir(e.Pos.Filename)
		_, again := first[dir]
		switch {
		case !strings.HasPrefix(e.Message, untold):
			out = append(out, e)
		case l.causes != nil || again:
			l.silenced[lineOf{e.Pos.Filename, e.Pos.Line}] = true
			more[dir]++
		default:
			first[dir] = len(out)
			out = append(out, e)
		}
	}
	for dir := range first {
		n := more[dir]
		if n == 0 {
			continue
		}
		out[first[dir]].Message += fmt.Sprintf(" (and so for %d more of the package)", n)
	}
	return out
}

type lineOf struct {
	file string
	line int
}

// withMarkers adds what is wrong with markers to errors that keep packages from being type-checked.
func (l *loader) withMarkers(err error) error {
	var list diag.Errors
	if !errors.As(err, &list) {
		return err
	}
	return append(append(l.errs, list...), l.markerFaults()...).Err()
}

// markerFaults are what markers alone are at fault with.
func (l *loader) markerFaults() diag.Errors {
	b := newBuilder(l)
	for _, path := range l.rootPaths() {
		b.notesOf(types.NewPackage(path, ""), token.NoPos)
	}
	return b.errs
}

// Unsure tells whether a place is in a package of which nothing certain can be said, so that faults which others find there
// may follow from what Load told.
func (r *Result) Unsure(pos model.Position) bool {
	return r.unsure[filepath.Dir(pos.Filename)] || r.silenced[lineOf{pos.Filename, pos.Line}]
}

func (l *loader) unsureDirs() map[string]bool {
	return l.dirs(l.around(func(s *source) bool { return s.broken || s.wrong }))
}

func (l *loader) dirs(paths map[string]bool) map[string]bool {
	out := map[string]bool{}
	for path := range paths {
		if s := l.sources[path]; s != nil {
			out[s.meta.Dir] = true
		}
	}
	return out
}

// around are the packages that hang together with those that are asked for: by imports, in either direction, or as versions
// of one group.
func (l *loader) around(start func(*source) bool) map[string]bool {
	near := map[string][]string{}
	join := func(x, y string) { near[x], near[y] = append(near[x], y), append(near[y], x) }
	first := map[string]string{} // the first package of each folder of versions
	out := map[string]bool{}
	var queue []string
	reach := func(path string) {
		if !out[path] {
			out[path] = true
			queue = append(queue, path)
		}
	}
	for path, s := range l.sources {
		for _, i := range s.imported() {
			if l.sources[i] != nil {
				join(path, i)
			} else if l.missing[i] {
				reach(path)
			}
		}
		if s.root {
			dir := s.meta.Dir
			if isVersion(filepath.Base(dir)) || isVersion(s.meta.Name) {
				dir = filepath.Dir(dir)
			}
			if other := first[dir]; other != "" {
				join(path, other)
			}
			first[dir] = path
		}
		if start(s) {
			reach(path)
		}
	}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		for _, other := range near[path] {
			reach(other)
		}
	}
	return out
}

// imported are the paths that a package imports, as far as they were read.
func (s *source) imported() []string {
	if s.root {
		return s.imports()
	}
	var out []string
	for _, i := range s.meta.Imports {
		out = append(out, i.PkgPath)
	}
	return out
}

package load

import (
	"errors"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// Users see all faults in one run, and no fault that only follows from another. The loader therefore leaves out a
// package that doesn't parse or doesn't exist, with all packages that are connected with it. Of a package whose
// declarations don't compile it reports only the compile errors and the faults of markers.

// Endless reports whether a type holds itself, or a package imports itself: resolve can't make a model of those.
func (u *Universe) Endless() bool {
	return slices.ContainsFunc(u.errs, func(e diag.Error) bool {
		return strings.HasPrefix(e.Message, recursive) || strings.HasPrefix(e.Message, importCycle) ||
			strings.HasPrefix(e.Message, "instantiation cycle")
	})
}

// Report returns all the faults that were found: those of the universe and of its markers, and those found in the
// model. Invalid are fields whose types don't compile. Report leaves out faults that only follow from others. It
// returns nil if there are none.
func (u *Universe) Report(found, invalid diag.Errors) diag.Errors {
	marked, _ := u.markerFaults()
	if u.errs == nil {
		all := slices.Concat(marked, found, u.firstInvalid(invalid))
		if all == nil && invalid == nil {
			return nil
		}
		return append(u.causes, all...)
	}
	broken, reported := u.around(func(s *Source) bool { return s.broken }), map[lineOf]bool{}
	dirs := u.dirs(broken)
	for _, e := range u.errs {
		reported[lineOf{e.Pos.Filename, e.Pos.Line}] = true
	}
	out := append(u.errs, marked...)
	for _, e := range found {
		if !dirs[filepath.Dir(e.Pos.Filename)] && !reported[lineOf{e.Pos.Filename, e.Pos.Line}] {
			out = append(out, e)
		}
	}
	return out
}

// Warnings returns the faults that keep nothing from being generated.
func (u *Universe) Warnings() diag.Errors {
	_, warnings := u.markerFaults()
	return slices.Concat(u.warnings, warnings)
}

// firstInvalid leaves one of the fields of a package whose types don't compile, for all have one cause; none where that
// is reported.
func (u *Universe) firstInvalid(errs diag.Errors) diag.Errors {
	var sorted, out diag.Errors
	errors.As(errs.Err(), &sorted)
	first, more := map[string]int{}, map[string]int{}
	for _, e := range sorted {
		dir := filepath.Dir(e.Pos.Filename)
		if _, again := first[dir]; u.causes != nil || again {
			u.silenced[lineOf{e.Pos.Filename, e.Pos.Line}] = true
			more[dir]++
			continue
		}
		first[dir] = len(out)
		out = append(out, e)
	}
	for dir, i := range first {
		if n := more[dir]; n > 0 {
			out[i].Message += fmt.Sprintf(" (and so for %d more of the package)", n)
		}
	}
	return out
}

type lineOf struct {
	file string
	line int
}

// withMarkers adds what is wrong with markers to errors that keep packages from being type-checked.
func (u *Universe) withMarkers(err error) error {
	var list diag.Errors
	if !errors.As(err, &list) {
		return err
	}
	marked, _ := u.markerFaults()
	return slices.Concat(u.errs, list, marked).Err()
}

// Faults returns the faults of the universe and of its markers alone; nil if there are none.
func (u *Universe) Faults() error { return u.withMarkers(diag.Errors(nil)) }

// markerFaults returns the errors and the warnings about the markers of roots.
func (u *Universe) markerFaults() (errs, warnings diag.Errors) {
	for _, s := range u.Roots() {
		errs, warnings = append(errs, s.comments.errs...), append(warnings, s.comments.warnings...)
	}
	return errs, warnings
}

// Unread reports whether a place is in a package of which files or imports couldn't be read, or in one connected with
// it, or on a line whose fault isn't reported. Not even what is known of other types is certain there.
func (u *Universe) Unread(pos token.Position) bool {
	if u.unread == nil {
		u.unread = u.dirs(u.around(func(s *Source) bool { return s.broken }))
	}
	return u.unread[filepath.Dir(pos.Filename)] || u.silenced[lineOf{pos.Filename, pos.Line}]
}

// Incomplete reports whether a place is in a package that is known incompletely, or on a line whose fault isn't
// reported, so that faults which others find there may follow from those that Report returned.
func (u *Universe) Incomplete(pos token.Position) bool {
	if u.incomplete == nil {
		u.incomplete = u.dirs(u.around(func(s *Source) bool { return s.broken || s.wrong }))
	}
	return u.incomplete[filepath.Dir(pos.Filename)] || u.silenced[lineOf{pos.Filename, pos.Line}]
}

func (u *Universe) dirs(paths map[string]bool) map[string]bool {
	out := map[string]bool{}
	for path := range paths {
		if s := u.sources[path]; s != nil {
			out[s.meta.Dir] = true
		}
	}
	return out
}

// around returns the packages that start selects, and those connected with them by imports or as versions of one group.
func (u *Universe) around(start func(*Source) bool) map[string]bool {
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
	for path, s := range u.sources {
		for _, i := range s.imported() {
			if u.sources[i] != nil {
				join(path, i)
			} else if u.missing[i] {
				reach(path)
			}
		}
		if s.root {
			dir := s.meta.Dir
			if model.IsVersion(filepath.Base(dir)) || model.IsVersion(s.meta.Name) {
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

// imported returns the paths that a package imports, as far as they were read.
func (s *Source) imported() []string {
	if s.root {
		return s.Imports()
	}
	var out []string
	for _, i := range s.meta.Imports {
		out = append(out, i.PkgPath)
	}
	return out
}

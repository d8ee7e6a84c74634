// Package compat compares two states of an API: the requests and responses of clients, the stored objects, and the
// output for people. It compares models, not Go: types that were renamed, moved, embedded or made generic are the same
// as long as their JSON is. A rule in a table covers each finding; allow files name the rule's ID.
//
// It knows model and schema and nothing else of the generator; package generator loads the two states.
package compat

import (
	"cmp"
	"fmt"
	"slices"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// Finding is a difference between the two states, with the rule that covers it.
type Finding struct {
	Rule Rule
	// Level is the rule's, but for alpha versions, which promise nothing: there a break is a warning.
	Level Level
	// Group, Version and Kind name the object; Version and Kind are empty if the finding is about all.
	Group, Version, Kind string
	// Path is the field's, as kubectl explain has it, with [] for elements and {} for values: spec.ports[].name. Empty
	// for the kind itself.
	Path string
	// Message says how the property was and how it is now.
	Message string
	// Pos is in the new source: of the field, or of what it was taken from. Old is in the old source, if that
	// has it.
	Pos, Old model.Position
}

// Subject identifies the place of the finding in an allow file: group/version/Kind:path, without empty parts.
func (f Finding) Subject() string {
	s := f.Group
	if f.Version != "" {
		s += "/" + f.Version
	}
	if f.Kind != "" {
		s += "/" + f.Kind
	}
	if f.Path != "" {
		s += ":" + f.Path
	}
	return s
}

// Compare returns the differences between two states, sorted by position in the new source, then by subject and rule.
func Compare(before, after *model.Program) []Finding {
	d := &diff{types: schema.New(schema.Wire)}
	for _, o := range before.Groups {
		if n := groupNamed(after, o.Name); n != nil {
			d.group(o, n)
		} else if len(o.ServedVersions()) > 0 {
			d.at(place{group: o.Name, old: groupPosition(o)}).add("GROUP_REMOVED",
				"the group is gone, with all its kinds")
		}
	}
	for _, n := range after.Groups {
		if groupNamed(before, n.Name) == nil && len(n.ServedVersions()) > 0 {
			d.at(place{group: n.Name, pos: groupPosition(n)}).add("GROUP_ADDED", "the group is new")
		}
	}
	slices.SortStableFunc(d.findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Filename, b.Pos.Filename), cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Subject(), b.Subject()), cmp.Compare(a.Rule.ID, b.Rule.ID), cmp.Compare(a.Message, b.Message))
	})
	return d.findings
}

type diff struct {
	// types resolves the types of both.
	types    *schema.Resolver
	findings []Finding
}

type place struct {
	group, version, kind, path string
	pos, old                   model.Position
}

type site struct {
	*diff
	place
}

func (d *diff) at(p place) site { return site{d, p} }

func (s site) add(rule string, format string, args ...any) {
	f := Finding{
		Rule: ruleOf(rule), Message: fmt.Sprintf(format, args...),
		Group: s.place.group, Version: s.place.version, Kind: s.kind, Path: s.path, Pos: s.pos, Old: s.old,
	}
	f.Level = f.Rule.Level
	if f.Level == Break && alpha(f.Version) {
		f.Level = Warn
	}
	s.findings = append(s.findings, f)
}

// changed adds a finding where a property has another value now; absent stands for an empty one.
func (s site) changed(rule string, property, was, is, absent string) {
	if was != is {
		s.add(rule, "the %s was %s, and is %s", property, cmp.Or(was, absent), cmp.Or(is, absent))
	}
}

// each adds a finding for each of the names that are in one list and not in another.
func (s site) each(rule string, in, notIn []string, format string) {
	for _, name := range missing(in, notIn) {
		s.add(rule, format, name)
	}
}

func missing(in, notIn []string) []string {
	return slices.DeleteFunc(slices.Clone(in), func(name string) bool { return slices.Contains(notIn, name) })
}

// find returns the element that matches, or the zero value.
func find[T any](list []T, matches func(T) bool) (found T) {
	if i := slices.IndexFunc(list, matches); i >= 0 {
		found = list[i]
	}
	return found
}

func groupNamed(p *model.Program, name string) *model.Group {
	return find(p.Groups, func(g *model.Group) bool { return g.Name == name })
}

func groupPosition(g *model.Group) model.Position {
	for _, p := range g.Packages() {
		return p.Pos
	}
	return model.Position{}
}

// Package judge holds the rules about a model. Judges are pure functions: they read the model, return findings, and
// change nothing. The parts of the model that a finding refuses are data, and LeaveOut removes them in one step. The
// package may know the model, diagnostics and spelling.
package judge

import (
	"fmt"
	"slices"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
)

// Severity says what becomes of a finding.
type Severity uint8

// The severities.
const (
	// Fault is an error that --lenient makes a warning: the part of the model is left out then.
	Fault Severity = iota
	// Error is always one.
	Error
	// Warning keeps nothing from being generated.
	Warning
)

// Finding is what a judge found.
type Finding struct {
	diag.Error
	Severity Severity
	// In is the package that the finding is about.
	In *model.Package
	// Without is what has to be left out of the model; its zero value is nothing.
	Without Omission
}

// Omission names a part of the model that can't be kept.
type Omission struct {
	// Schema is the schema that a rule, given by its check and position, or the Type is taken from.
	Schema *model.Schema
	Check  model.Check
	Pos    model.Position
	Type   bool
	// PatchOf is the field whose tags for patches are left out.
	PatchOf *model.Field
	// DefaultOfType and DefaultOfField lose their defaults.
	DefaultOfType  *model.Type
	DefaultOfField *model.Field
}

// LeaveOut takes from the model what findings ask to be left out.
func LeaveOut(findings []Finding) {
	for _, f := range findings {
		f.Without.apply()
	}
}

func (o Omission) apply() {
	switch {
	case o.DefaultOfType != nil:
		o.DefaultOfType.Default = nil
	case o.DefaultOfField != nil:
		o.DefaultOfField.Default = nil
	case o.PatchOf != nil:
		o.PatchOf.Schema.PatchStrategy, o.PatchOf.Schema.PatchMergeKey = "", ""
	case o.Type:
		o.Schema.Type = ""
	case o.Schema != nil:
		o.Schema.Rules = slices.DeleteFunc(o.Schema.Rules, func(r model.Rule) bool {
			return r.Check == o.Check && r.Pos == o.Pos
		})
		leaveOut(o.Schema, o.Check)
	}
}

// Program judges all packages of a program that files are generated from.
func Program(p *model.Program) []Finding {
	r := &checker{kept: map[*model.Schema]*model.Schema{}}
	for _, pkg := range p.Packages {
		r.in = pkg
		for _, t := range pkg.Types {
			r.typ(t)
			if t.DeepCopy == model.DeepCopyGenerate {
				r.copyFields(t)
			}
		}
		if pkg.Output {
			r.names(pkg)
		}
	}
	groups := p.Groups
	for _, c := range p.Clients {
		groups = slices.Concat(groups, c.Groups)
	}
	judged := map[*model.Group]bool{}
	for _, g := range groups {
		if !judged[g] {
			judged[g] = true
			r.group(g)
		}
	}
	if p.RuntimeAvailable {
		r.unserved(p)
	}
	return r.findings
}

// checker collects findings.
type checker struct {
	in       *model.Package
	findings []Finding
	// kept are the schemas that were judged, without what was refused of them: what follows only from a fault that is
	// reported isn't reported, too.
	kept map[*model.Schema]*model.Schema
}

func (r *checker) add(severity Severity, without Omission, pos model.Position, message string) {
	r.findings = append(r.findings, Finding{diag.Error{Pos: pos, Message: message}, severity, r.in, without})
}

// faultf reports a fault of a marker.
func (r *checker) faultf(pos model.Position, format string, args ...any) {
	r.add(Fault, Omission{}, pos, fmt.Sprintf(format, args...))
}

// rulef reports a fault of a rule, in a message that begins with its marker.
func (r *checker) rulef(rule *model.Rule, format string, args ...any) {
	r.faultf(rule.Pos, "marker \"+%s\"%s", rule.Marker, fmt.Sprintf(format, args...))
}

// errorf reports an error that stays one with --lenient.
func (r *checker) errorf(pos model.Position, format string, args ...any) {
	r.add(Error, Omission{}, pos, fmt.Sprintf(format, args...))
}

func (r *checker) warnf(pos model.Position, format string, args ...any) {
	r.add(Warning, Omission{}, pos, fmt.Sprintf(format, args...))
}

// of returns a schema as far as it could be kept.
func (r *checker) of(s *model.Schema) *model.Schema {
	if kept := r.kept[s]; kept != nil {
		return kept
	}
	return s
}

// typ judges a named type.
func (r *checker) typ(t *model.Type) {
	r.schema(t, &t.Schema, nil, t.Name)
	r.fitDefault(t.Default, t, nil, Omission{DefaultOfType: t})
	r.claims(t, &t.Schema, t.Name)
	r.unions(t)
	for part := range t.WithAnonymous() {
		r.fields(part)
	}
}

// fields judges the fields of a struct.
func (r *checker) fields(t *model.Type) {
	r.duplicates(t)
	for _, f := range t.Fields {
		r.wire(t, f)
		r.schema(f.Type, &f.Schema, t, f.Name)
		r.fitDefault(f.Default, f.Type, f, Omission{DefaultOfField: f})
		r.claims(f.Type, &f.Schema, f.Name)
		r.siblings(t, f)
		r.patch(f)
	}
}

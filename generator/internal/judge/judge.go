// Package judge holds the rules about a model. Judges are pure functions: they read the model, return findings, and
// change nothing. LeaveOut then removes the parts of the model that findings refuse, in one step. The package may know
// the model, diagnostics and spelling.
package judge

import (
	"fmt"
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
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
	// Omit takes from the model what can't be kept; nil is nothing.
	Omit func()
}

// LeaveOut takes from the model what the findings refuse.
func LeaveOut(findings []Finding) {
	for _, f := range findings {
		if f.Omit != nil {
			f.Omit()
		}
	}
}

// Program judges all packages of a program that files are generated from, and the defaults of all types that these
// reach.
func Program(p *model.Program, types []*model.Type) []Finding {
	r := &checker{kept: map[*model.Schema]*model.Schema{}, refused: map[*model.Default]bool{}}
	r.defaults(types)
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
	r.served(p)
	return r.findings
}

type checker struct {
	in       *model.Package
	findings []Finding
	// kept are the judged schemas without their refused parts, so that no finding only follows from another.
	kept map[*model.Schema]*model.Schema
	// refused are defaults that aren't values of their types.
	refused map[*model.Default]bool
}

func (r *checker) add(severity Severity, pos model.Position, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	r.findings = append(r.findings, Finding{
		Error: diag.Error{Pos: pos, Message: message}, Severity: severity, In: r.in,
	})
}

func (r *checker) faultf(pos model.Position, format string, args ...any) {
	r.add(Fault, pos, format, args...)
}

// omit lets the last finding take a part from the model.
func (r *checker) omit(part func()) { r.findings[len(r.findings)-1].Omit = part }

// rulef reports a fault of a rule, in a message that begins with its marker.
func (r *checker) rulef(rule *model.Rule, format string, args ...any) {
	r.faultf(rule.Pos, "marker \"+%s\"%s", rule.Marker, fmt.Sprintf(format, args...))
}

// errorf reports an error that stays one with --lenient.
func (r *checker) errorf(pos model.Position, format string, args ...any) {
	r.add(Error, pos, format, args...)
}

func (r *checker) warnf(pos model.Position, format string, args ...any) {
	r.add(Warning, pos, format, args...)
}

// of returns a schema without its refused parts.
func (r *checker) of(s *model.Schema) *model.Schema {
	if kept := r.kept[s]; kept != nil {
		return kept
	}
	return s
}

func (r *checker) typ(t *model.Type) {
	r.schema(t, &t.Schema, nil, t.Name)
	r.fitDefault(t.Default, t, nil, func() { t.Default = nil })
	r.claims(t, &t.Schema, t.Name)
	r.unions(t)
	for part := range t.WithAnonymous() {
		r.fields(part)
	}
}

func (r *checker) fields(t *model.Type) {
	r.duplicates(t)
	for _, f := range t.Fields {
		r.wire(t, f)
		r.schema(f.Type, &f.Schema, t, f.Name)
		r.nullable(f)
		r.inlined(t, f)
		r.fitDefault(f.Default, f.Type, f, func() { f.Default = nil })
		r.claims(f.Type, &f.Schema, f.Name)
		r.siblings(t, f)
		r.patch(f)
	}
}

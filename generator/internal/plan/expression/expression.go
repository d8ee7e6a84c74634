// Package expression decides which kinds have rules in CEL (+kubebuilder:validation:XValidation), makes the schemas
// that expressions see, and judges the rules: a rule that doesn't type-check, costs too much or compares values that
// can't be compared has a fault. It is a part of the plan, knows model and schema, and uses runtime/cel, which runs the
// rules.
package expression

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/spelling"
	"apigen.dev/runtime/cel"
)

// Rules are the rules in CEL of a program.
type Rules struct {
	// Structs are the structs of the schemas that are the same everywhere.
	Structs map[*cel.Schema]Struct
	// Findings are the faults of rules in packages that output is written for, and advice about such rules.
	Findings []Finding

	builder *builder
}

// TypeRules are the rules of a type.
type TypeRules struct {
	// Function is the function of a group's wiring package that returns the rules. Schema has the rules in it, without
	// those that have faults.
	Function string
	Schema   *cel.Schema
}

// New judges the rules of a program.
func New(p *model.Program, writes func(*model.Package) bool) *Rules {
	out := &Rules{Findings: judge(p, writes)}
	faulty := map[model.Position]bool{}
	for _, f := range out.Findings {
		faulty[f.Rule.Pos] = faulty[f.Rule.Pos] || !f.Advice
	}
	out.builder = newBuilder(faulty)
	out.Structs = out.builder.types
	return out
}

// Of decides the rules of a type that servers decode; nil if it has none.
func (r *Rules) Of(t *model.Type) *TypeRules {
	s := r.builder.kind(t)
	if !s.HasRules() {
		return nil
	}
	return &TypeRules{Function: "rules" + spelling.UpperFirst(t.Package.Name) + t.Name, Schema: s}
}

// Finding is a fault of a rule, or advice about one.
type Finding struct {
	Rule model.CELRule
	Text string
	// Fixable: the marker is in a module of the user's own, and nobody asked for leniency.
	Fixable bool
	// Advice: the rule is run, and is probably not what is meant.
	Advice bool
}

// judge compiles the rules of all kinds, and of types that no kind leads to, in packages that output is written for. It
// reports each fault once, at the rule's marker, wherever its type is used.
func judge(p *model.Program, writes func(*model.Package) bool) []Finding {
	b := newBuilder(nil)
	j := &judgement{builder: b, lenient: p.Lenient, reported: map[string]bool{}, judged: map[model.Position]bool{}}
	for _, g := range p.Groups {
		for _, r := range g.Resources {
			for _, v := range r.Versions {
				if writes(v.Type.Package.Home()) {
					j.schema(b.kind(v.Type), r.Kind, true, v.Type.Package)
				}
			}
		}
	}
	for _, pkg := range p.Packages {
		for _, t := range pkg.Types {
			if writes(pkg.Home()) && !j.all(t) {
				j.schema(b.kind(t), t.Name, false, pkg)
			}
		}
	}
	return j.findings
}

type judgement struct {
	builder  *builder
	lenient  bool
	findings []Finding
	reported map[string]bool
	judged   map[model.Position]bool
}

// all reports whether all rules in a type's declaration were judged where a kind uses it.
func (j *judgement) all(t *model.Type) bool {
	unjudged := func(r model.CELRule) bool { return !j.judged[r.Pos] }
	return !slices.ContainsFunc(t.Schema.CEL, unjudged) && !slices.ContainsFunc(t.Fields, func(f *model.Field) bool {
		items := f.Schema.Items
		return slices.ContainsFunc(f.Schema.CEL, unjudged) || items != nil && slices.ContainsFunc(items.CEL, unjudged)
	})
}

func (j *judgement) schema(s *cel.Schema, path string, resource bool, home *model.Package) {
	if !s.HasRules() {
		return
	}
	j.mark(s)
	for _, f := range cel.Check(s, path, resource) {
		rules := j.builder.sources[f.Schema]
		if f.Follows || f.Index >= len(rules) || j.vague(f.Schema) {
			continue
		}
		rule := rules[f.Index]
		key := fmt.Sprintf("%s %s", rule.Pos, f.Part)
		if j.reported[key] {
			continue
		}
		j.reported[key] = true
		j.findings = append(j.findings, Finding{
			Rule: rule, Text: describe(rule, f, j.builder.owners[f.Schema]), Advice: f.Advice,
			Fixable: !j.lenient && editable(rule.Pos, home),
		})
	}
}

// vague reports whether something in a schema isn't known: an error that is reported elsewhere. A fault of an
// expression may follow from it.
func (j *judgement) vague(s *cel.Schema) bool {
	return s != nil && (j.builder.vague[s] || j.vague(s.Items) || j.vague(s.Values) ||
		slices.ContainsFunc(slices.Collect(maps.Values(s.Properties)), j.vague))
}

func (j *judgement) mark(s *cel.Schema) {
	if !s.HasRules() {
		return
	}
	for _, r := range j.builder.sources[s] {
		j.judged[r.Pos] = true
	}
	for _, p := range s.Properties {
		j.mark(p)
	}
	j.mark(s.Items)
	j.mark(s.Values)
}

// describe says what is wrong: with an expression, its line, where in it, and what self has.
func describe(rule model.CELRule, f cel.Fault, owner string) string {
	part := map[cel.Part]string{
		cel.InRule: "", cel.InMessage: "its message ", cel.InMessageExpression: "its messageExpression ",
		cel.InReason:    "its reason ",
		cel.InFieldPath: "its fieldPath ", cel.InOptionalOldSelf: "its optionalOldSelf ",
	}[f.Part]
	head := "CEL rule of " + owner
	if rule.Rule == "" && f.Part == cel.InRule {
		return head + ": there is none: write rule=\"...\", an expression that is true of what is valid"
	}
	if len(f.Issues) == 0 {
		return head + ": " + part + f.Message
	}
	expression := rule.Rule
	if f.Part == cel.InMessageExpression {
		expression = rule.MessageExpression
	}
	lines := strings.Split(expression, "\n")
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s", head, part)
	for i, issue := range f.Issues {
		if i > 0 {
			out.WriteString("\n\t")
		}
		out.WriteString(issue.Message)
		if issue.Line >= 1 && issue.Line <= len(lines) {
			line := strings.ReplaceAll(lines[issue.Line-1], "\t", " ")
			fmt.Fprintf(&out, "\n\t  %s\n\t  %s^", line, strings.Repeat(" ", max(0, issue.Column-1)))
		}
		if hint := suggest(issue.Message, f.Schema); hint != "" {
			out.WriteString("\n\t" + hint)
		}
	}
	return out.String()
}

// suggest says what a name that is not there may be, and what self has.
func suggest(message string, s *cel.Schema) string {
	if strings.Contains(message, "recognition error at: '\u201d") {
		return "gofmt writes \u201d for two apostrophes in a comment: write \"\" in a rule between backquotes"
	}
	var fields []string
	for name := range s.Properties {
		if e, ok := cel.Escape(name); ok {
			fields = append(fields, e)
		}
	}
	sort.Strings(fields)
	if name, ok := between(message, "undeclared reference to '"); ok {
		if i := sort.SearchStrings(fields, name); i < len(fields) && fields[i] == name {
			return "write self." + name + ": the variables are self and oldSelf"
		}
		if name == "self" || name == "oldSelf" {
			return ""
		}
		return "the variables are self and oldSelf"
	}
	name, ok := between(message, "undefined field '")
	if !ok {
		return ""
	}
	if s.Properties[name] != nil {
		return "expressions don't see it: nothing is known of its JSON"
	}
	if near := spelling.Within(name, slices.Sorted(maps.Keys(reachable(s, map[string]bool{}, 0))),
		len(name)/3+1); near != "" {
		return "did you mean " + near + "?"
	}
	if len(fields) == 0 || len(fields) > 20 {
		return ""
	}
	return "self has " + strings.Join(fields, ", ")
}

func between(text, prefix string) (string, bool) {
	_, rest, found := strings.Cut(text, prefix)
	if !found {
		return "", false
	}
	name, _, found := strings.Cut(rest, "'")
	return name, found
}

// reachable are the names of fields of a schema and what is in it, some levels deep.
func reachable(s *cel.Schema, into map[string]bool, depth int) map[string]bool {
	if s == nil || depth > 4 {
		return into
	}
	for name, p := range s.Properties {
		if e, ok := cel.Escape(name); ok {
			into[e] = true
		}
		reachable(p, into, depth+1)
	}
	reachable(s.Items, into, depth+1)
	return reachable(s.Values, into, depth+1)
}

// editable reports whether a position is in the module of a package, and that is the user's own.
func editable(pos model.Position, home *model.Package) bool {
	return home.Module == nil || home.Module.Own && (home.Module.Dir == "" || strings.HasPrefix(pos.Filename,
		home.Module.Dir))
}

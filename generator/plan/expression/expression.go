// Package expression decides which kinds have rules in CEL (+kubebuilder:validation:XValidation), makes the schemas
// that expressions see, and judges the rules: a rule that doesn't type-check, costs too much or compares values that
// can't be compared has a fault. It is a part of the plan, knows model and schema, and uses runtime/cel, which runs the
// rules.
package expression

import (
	"apigen.dev/generator/model"
	"apigen.dev/generator/spelling"
	"apigen.dev/runtime/cel"
)

// Rules are the rules in CEL of a program.
type Rules struct {
	// Functions are the functions of a group's wiring package that return the rules of a type. Schemas have the rules
	// in them, without those that have faults.
	Functions map[*model.Type]string
	Schemas   map[*model.Type]*cel.Schema
	// Structs are the structs of the schemas that are the same everywhere.
	Structs map[*cel.Schema]Struct
	// Findings are the faults of rules in packages that output is written for, and advice about such rules.
	Findings []Finding
}

// New decides the rules of types that servers decode.
func New(p *model.Program, types []*model.Type, writes func(*model.Package) bool) *Rules {
	out := &Rules{
		Functions: map[*model.Type]string{}, Schemas: map[*model.Type]*cel.Schema{}, Findings: judge(p, writes),
	}
	faulty := map[model.Position]bool{}
	for _, f := range out.Findings {
		faulty[f.Rule.Pos] = faulty[f.Rule.Pos] || !f.Advice
	}
	b := newBuilder(faulty)
	out.Structs = b.types
	for _, t := range types {
		if s := b.kind(t); s.HasRules() {
			out.Functions[t], out.Schemas[t] = "rules"+spelling.UpperFirst(t.Package.Name)+t.Name, s
		}
	}
	return out
}

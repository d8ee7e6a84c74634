package rules_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"apigen.dev/generator/internal/emit/rules"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/runtime/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const source = `
-- shop/v1/doc.go --
// +groupName=shop.example.com
package v1
-- shop/v1/types.go --
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Spec   Spec   ` + "`json:\"spec\"`" + `
	Status Status ` + "`json:\"status,omitempty\"`" + `
	Plain  Plain  ` + "`json:\"plain,omitempty\"`" + `
}

// +kubebuilder:validation:XValidation:rule="self.size > 0 && self.least == '1'",message="too \"small\""
type Spec struct {
	Size  int                ` + "`json:\"size\"`" + `
	Least *resource.Quantity ` + "`json:\"least\"`" + `
	// +kubebuilder:validation:XValidation:rule="!has(self.deeper) || has(self.name)"
	Tree *Tree ` + "`json:\"tree,omitempty\"`" + `
	When metav1.Time ` + "`json:\"when\"`" + `
}

type Tree struct {
	Name   string ` + "`json:\"name,omitempty\"`" + `
	Deeper *Tree  ` + "`json:\"deeper,omitempty\"`" + `
}

type Status struct {
	Unseen Plain ` + "`json:\"unseen,omitempty\"`" + `
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=10
	// +kubebuilder:validation:items:XValidation:rule="self != ''"
	Names []string ` + "`json:\"names,omitempty\"`" + `
}

type Plain struct {
	A string ` + "`json:\"a\"`" + `
}
`

// program wires the source's group: loadtest's modules require the runtime.
func program(t *testing.T, text string) *model.Program {
	t.Helper()
	p := loadtest.Program(t, text)
	p.RuntimeAvailable = true
	return p
}

// TestEmit: the emitted file is Go, holds only the fields that rules see, and ends where types contain themselves.
func TestEmit(t *testing.T) {
	files, err := rules.Emit(plan.New(program(t, source)))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	text := string(files[0].Content)
	if _, err := parser.ParseFile(token.NewFileSet(), "rules.go", text, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"var rulesV1Widget = sync.OnceValue(func() *cel.Rules {",
		"Message: `too \"small\"`",
		`"least": {IntOrString: true}`,
		`Required: []string{"size", "least", "when"}`,
		`Format: "date-time"`,
		`"deeper": { Type: "object", PreserveUnknownFields: true, }`,
		"MaxItems: cel.Limit(10),", "MaxLength: cel.Limit(10),",
		"// ruledV1Status are the fields of v1.Status that have rules in them.",
	} {
		if !strings.Contains(squeezed(text), squeezed(want)) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, unwanted := range []string{"unseen", "plain", "fieldsV1Plain"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("%s in\n%s", unwanted, text)
		}
	}
}

// TestTypeThatContainsItself: the rules of such a type run, but where it begins again, and its fields aren't declared.
// The tasks of Argo Workflows' templates have templates in them.
func TestTypeThatContainsItself(t *testing.T) {
	const tree = "type Tree struct"
	rule := `// +kubebuilder:validation:XValidation:rule="!has(self.name) || !has(self.deeper)",message=both`
	p := program(t, strings.Replace(source, tree, rule+"\n"+tree, 1))
	checks := cel.New(schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Widget"},
		plan.New(p).Rules.Of(p.Groups[0].Resources[0].Hub).Schema)
	spec := func(tree map[string]any) map[string]any {
		return map[string]any{"spec": map[string]any{
			"size": int64(1), "least": "1", "when": "2026-01-02T03:04:05Z", "tree": tree,
		}}
	}
	leaf := map[string]any{"name": "a"}
	both := map[string]any{"name": "a", "deeper": leaf}
	for _, c := range []struct {
		tree map[string]any
		want string
	}{
		{leaf, "[]"},
		{both, "[spec.tree: Invalid value: both]"},
		{map[string]any{"name": "a", "deeper": map[string]any{}}, "[spec.tree: Invalid value: both]"},
	} {
		if got := fmt.Sprint(checks.Run(t.Context(), spec(c.tree), nil)); got != c.want {
			t.Errorf("%v: %s, want %s", c.tree, got, c.want)
		}
	}
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestKnot: structs that all contain one another take no longer than others.
func TestKnot(t *testing.T) {
	var knot strings.Builder
	for i := range 30 {
		fmt.Fprintf(&knot, "type K%d struct {\n", i)
		for j := range 30 {
			fmt.Fprintf(&knot, "\tF%d *K%d `json:\"f%d,omitempty\"`\n", j, j, j)
		}
		knot.WriteString("}\n")
	}
	knot.WriteString("type Nest []Nest\ntype Maze map[string]*Maze\n")
	text := strings.Replace(source, "Deeper *Tree",
		"Nest Nest `json:\"nest,omitempty\"`\n\tMaze Maze `json:\"maze,omitempty\"`\n\tKnot *K0 "+
			"`json:\"knot,omitempty\"`\n\tDeeper *Tree", 1) + knot.String()
	if files, err := rules.Emit(plan.New(program(t, text))); err != nil || len(files) != 1 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// TestNothing: a group without rules has no file, and its kinds no function.
func TestNothing(t *testing.T) {
	var kept []string
	for _, line := range strings.Split(source, "\n") {
		if !strings.Contains(line, "XValidation") {
			kept = append(kept, line)
		}
	}
	p := program(t, strings.Join(kept, "\n"))
	files, err := rules.Emit(plan.New(p))
	if len(files) > 0 || err != nil {
		t.Errorf("%v, %v", files, err)
	}
	if rules := plan.New(p).OfType(p.Groups[0].Resources[0].Hub).Rules; rules != nil {
		t.Errorf("function %s", rules.Function)
	}
}

// TestLenient: a lenient run turns errors into warnings, and leaves the rules out.
func TestLenient(t *testing.T) {
	p := program(t, strings.Replace(source, "self.size > 0", "self.sise > 0", 1))
	errs := rules.Emitter().Faults(plan.New(p))
	if len(errs) != 1 || !strings.Contains(errs[0].Message, "undefined field 'sise'") ||
		!strings.Contains(errs[0].Message, "did you mean size?") {
		t.Errorf("%v", errs)
	}
	p.Lenient = true
	faults := rules.Emitter().Faults(plan.New(p))
	files, err := rules.Emit(plan.New(p))
	if err != nil || len(faults) > 0 || len(files) != 1 || strings.Contains(string(files[0].Content), "sise") {
		t.Errorf("%v, %v, %s", faults, err, files)
	}
	warnings := rules.Emitter().Warnings(plan.New(p))
	if len(warnings) != 1 || !strings.HasSuffix(warnings[0].Message, "the rule is not run") {
		t.Errorf("%v", warnings)
	}
}

// TestAdvice: a rule that asks for a field which need not be there works, and is told about.
func TestAdvice(t *testing.T) {
	p := program(t, strings.Replace(source, "!has(self.deeper) || has(self.name)", "self.name != ''", 1))
	if faults := rules.Emitter().Faults(plan.New(p)); len(faults) > 0 {
		t.Fatal(faults)
	}
	warnings := rules.Emitter().Warnings(plan.New(p))
	if len(warnings) != 1 || !strings.Contains(warnings[0].Message, "fails where name is not there") {
		t.Errorf("%v", warnings)
	}
}

// brokenElsewhere has a rule that doesn't type-check, in another module: of a kind that is served, and of a field's
// type.
const brokenElsewhere = `
-- other/go.mod --
module example.com/other

go 1.26

require k8s.io/apimachinery v0.37.2
-- other/lamp/v1/types.go --
// +groupName=lamp.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +genclient
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	Bulb Bulb ` + "`json:\"bulb\"`" + `
}

// +kubebuilder:validation:XValidation:rule="exactlyOne(self.watts)"
type Bulb struct {
	Watts int32 ` + "`json:\"watts\"`" + `
}

func (in *Lamp) DeepCopyObject() runtime.Object { out := *in; return &out }
func AddToScheme(*runtime.Scheme) error { return nil }
-- apis/lamp/v1/doc.go --
// +apigen:serve=example.com/other/lamp/v1
package v1
-- apis/room/v1/types.go --
// +groupName=room.example.com
package v1

import (
	lampv1 "example.com/other/lamp/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
type Room struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	Bulb lampv1.Bulb ` + "`json:\"bulb\"`" + `
}
`

// TestRulesElsewhere: a faulty rule that the user can't edit is not run, and the wiring is told so.
func TestRulesElsewhere(t *testing.T) {
	p := program(t, brokenElsewhere)
	files, err := rules.Emit(plan.New(p))
	if err != nil || len(files) != 0 {
		t.Errorf("%d files, %v", len(files), err)
	}
	planned, kinds := plan.New(p), 0
	for _, g := range p.Groups {
		for _, r := range g.Resources {
			kinds++
			if called := planned.OfType(r.Hub).Rules; called != nil {
				t.Errorf("%s calls %s, which isn't written", r.Kind, called.Function)
			}
		}
	}
	if kinds != 2 {
		t.Errorf("%d kinds", kinds)
	}
}

// layered has rules at types whose values have no marker of their own: one that a struct inlines, one that a type is
// declared over.
const layered = `
-- shop/v1/types.go --
// +groupName=shop.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Weighted Weighted ` + "`json:\"weighted\"`" + `
	Host     Host     ` + "`json:\"host\"`" + `
}

type Weighted struct {
	Backend ` + "`json:\",inline\"`" + `
	Weight int32 ` + "`json:\"weight\"`" + `
}

type Backend struct {
	Reference ` + "`json:\",inline\"`" + `
}

// +kubebuilder:validation:XValidation:rule="self.name != '' || has(self.port)"
type Reference struct {
	Name string ` + "`json:\"name\"`" + `
	Port *int32 ` + "`json:\"port,omitempty\"`" + `
}

type Host Name

// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:XValidation:rule="self.startsWith('a')"
type Name string
`

// TestLayers: rules of a struct apply to structs that inline it, and rules of a type to types declared over it.
func TestLayers(t *testing.T) {
	files, err := rules.Emit(plan.New(program(t, layered)))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	text := squeezed(string(files[0].Content))
	for _, want := range []string{
		`"weighted": { Type: "object", Required: []string{"weight", "name"}, Rules: []cel.Rule{ {Rule: "self.name != ` +
			`'' || has(self.port)"}, }, Properties:`,
		`"host": { Type: "string", MaxLength: cel.Limit(20), Rules: []cel.Rule{ {Rule: "self.startsWith('a')"}, }, }`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, files[0].Content)
		}
	}
}

package generator_test

import (
	"os/exec"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
)

// contextualKinds is a project with methods in Knative's shapes: defaults, validation, and conversions of which the
// older version knows the newer one.
const contextualKinds = `
-- other/go.mod --
module example.com/other

go 1.26
-- other/apis/apis.go --
// Package apis has the interfaces of a framework.
package apis

import (
	"context"
	"strings"
)

// Convertible is a version that converts itself.
type Convertible interface {
	ConvertTo(ctx context.Context, to Convertible) error
	ConvertFrom(ctx context.Context, from Convertible) error
}

type write struct{}

// WithinCreate tells of a creation.
func WithinCreate(ctx context.Context) context.Context { return context.WithValue(ctx, write{}, "create") }

// WithinUpdate tells of an update of the old object.
func WithinUpdate(ctx context.Context, old any) context.Context { return context.WithValue(ctx, write{}, old) }

// Baseline is the old object of an update, or nil.
func Baseline(ctx context.Context) any {
	if old := ctx.Value(write{}); old != "create" {
		return old
	}
	return nil
}

// IsInCreate reports whether it is a creation.
func IsInCreate(ctx context.Context) bool { return ctx.Value(write{}) == "create" }

// Level is how bad an error is.
type Level int

// FieldError is an error of fields.
type FieldError struct {
	Message string
	Paths   []string
	Level   Level
	Details string

	more []*FieldError
}

// Error is the text.
func (e *FieldError) Error() string { return e.Message + ": " + strings.Join(e.Paths, ", ") }

// WrappedErrors are the errors one by one.
func (e *FieldError) WrappedErrors() []*FieldError { return append([]*FieldError{e}, e.more...) }

// Also adds an error.
func (e *FieldError) Also(other *FieldError) *FieldError {
	e.more = append(e.more, other)
	return e
}
-- apis/run/v1/doc.go --
// +k8s:deepcopy-gen=package
// +groupName=run.example.com
package v1
-- apis/run/v1/types.go --
package v1

import (
	"context"
	"errors"

	"example.com/other/apis"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Run struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Spec RunSpec ` + "`json:\"spec\"`" + `
}

type RunSpec struct {
	Steps   []string ` + "`json:\"steps\"`" + `
	Timeout string   ` + "`json:\"timeout\"`" + `
}

func (r *Run) SetDefaults(ctx context.Context) {
	if r.Spec.Timeout == "" {
		r.Spec.Timeout = "1h"
	}
	if apis.IsInCreate(ctx) {
		r.Labels = map[string]string{"managed-by": "runs"}
	}
}

func (r *Run) Validate(ctx context.Context) *apis.FieldError {
	if len(r.Spec.Steps) == 0 {
		steps := []string{"spec.steps"}
		found := &apis.FieldError{Message: "missing field(s)", Paths: steps, Details: "a run has steps"}
		if apis.IsInCreate(ctx) {
			found.Details = "a new run has steps"
		}
		return found.Also(&apis.FieldError{Message: "use another", Paths: []string{"spec.timeout"}, Level: 1})
	}
	if old, ok := apis.Baseline(ctx).(*Run); ok && len(old.Spec.Steps) > len(r.Spec.Steps) {
		return &apis.FieldError{Message: "a step is gone", Paths: []string{"spec.steps"}}
	}
	return nil
}

func (r *Run) ConvertTo(ctx context.Context, to apis.Convertible) error {
	return errors.New("v1 is the newest version")
}

func (r *Run) ConvertFrom(ctx context.Context, from apis.Convertible) error {
	return errors.New("v1 is the newest version")
}
-- apis/run/v1beta1/doc.go --
// +k8s:deepcopy-gen=package
// +k8s:conversion-gen=example.com/test/apis/run
// +groupName=run.example.com
package v1beta1
-- apis/run/run.go --
// Package run has constants.
package run

const GroupName = "run.example.com"
-- apis/run/v1beta1/types.go --
package v1beta1

import (
	"context"
	"strings"

	"example.com/other/apis"
	v1 "example.com/test/apis/run/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Run struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Steps string ` + "`json:\"steps\"`" + `
}

func (r *Run) ConvertTo(ctx context.Context, to apis.Convertible) error {
	out := to.(*v1.Run)
	out.ObjectMeta, out.Spec.Steps = r.ObjectMeta, strings.Fields(r.Steps)
	return nil
}

func (r *Run) ConvertFrom(ctx context.Context, from apis.Convertible) error {
	in := from.(*v1.Run)
	r.ObjectMeta, r.Steps = in.ObjectMeta, strings.Join(in.Spec.Steps, " ")
	return nil
}

func (r *Run) Validate(ctx context.Context) *apis.FieldError { return nil }
-- apis/run/run_test.go --
package run_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"example.com/test/apis/run/wiring"
)

func TestServed(t *testing.T) {
	server := apitest.Start(t, wiring.Group())
	call := func(method, path, body string) string {
		t.Helper()
		request, err := http.NewRequest(method, server.URL+path, bytes.NewBufferString(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		answer, err := server.Client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(answer.Header.Values("Warning"), ",") + string(text)
	}
	const v1, v1beta1 = "/apis/run.example.com/v1/namespaces/a/runs", "/apis/run.example.com/v1beta1/namespaces/a/runs"
	for _, want := range []struct{ method, path, body, answer string }{
		{"POST", v1beta1, "{\"kind\":\"Run\",\"apiVersion\":\"run.example.com/v1beta1\"," +
			"\"metadata\":{\"name\":\"one\"},\"steps\":\"build test\"}", "\"steps\":\"build test\""},
		{"GET", v1 + "/one", "", "\"steps\":[\"build\",\"test\"],\"timeout\":\"1h\""},
		{"POST", v1, "{\"kind\":\"Run\",\"apiVersion\":\"run.example.com/v1\",\"metadata\":{\"name\":\"two\"}," +
			"\"spec\":{\"steps\":[],\"timeout\":\"\"}}",
			"\"causes\":[{\"reason\":\"FieldValueInvalid\"," +
				"\"message\":\"Invalid value: missing field(s): a new run has steps\",\"field\":\"spec.steps\"}]"},
		{"GET", v1 + "/one", "", "\"labels\":{\"managed-by\":\"runs\"}"},
		{"PUT", v1 + "/one", "{\"kind\":\"Run\",\"apiVersion\":\"run.example.com/v1\"," +
			"\"metadata\":{\"name\":\"one\"},\"spec\":{\"steps\":[],\"timeout\":\"\"}}",
			"Invalid value: missing field(s): a run has steps"},
		{"PUT", v1 + "/one", "{\"kind\":\"Run\",\"apiVersion\":\"run.example.com/v1\"," +
			"\"metadata\":{\"name\":\"one\"},\"spec\":{\"steps\":[\"test\"],\"timeout\":\"\"}}",
			"Invalid value: a step is gone"},
	} {
		if got := call(want.method, want.path, want.body); !strings.Contains(got, want.answer) {
			t.Errorf("%s %s: got %s, want %s", want.method, want.path, got, want.answer)
		}
	}
}
`

// TestContextualMethods: SetDefaults, Validate, ConvertTo and ConvertFrom in the shapes of Knative's types are called
// where the server sets defaults, validates and converts.
func TestContextualMethods(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a server")
	}
	dir := loadtest.Unpack(t, loadtest.StableDir(t, "contextual"), contextualKinds)
	res, err := generator.Build(t.Context(), generator.Options{
		Listings: loadtest.Listings, Dir: dir, Env: environment(),
	})
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, w := range res.Warnings {
		said += w.Error() + "\n"
	}
	if want := "apis/run/v1beta1/types.go:33:15: method Validate of v1beta1.Run is not called by the server: logic " +
		"works on the hub, so write it for example.com/test/apis/run/v1.Run"; strings.Count(said, "\n") != 1 ||
		!strings.Contains(said, want) {
		t.Errorf("warnings: %s", said)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "./apis/run/")
	cmd.Dir, cmd.Env = dir, environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestContextualMethodsOfOtherShapes: a method that has the name of one that the server calls, and another signature,
// is a warning at its position, and so is one that a function takes the place of.
func TestContextualMethodsOfOtherShapes(t *testing.T) {
	archive := strings.NewReplacer(
		"func (r *Run) SetDefaults(ctx context.Context) {", "func (r *Run) SetDefaults(ctx context.Context, _ int) {",
		"func (r *Run) Validate(ctx context.Context) *apis.FieldError {",
		"func (r *Run) Validate(ctx context.Context, deep bool) *apis.FieldError {",
		"ConvertTo(ctx context.Context, to apis.Convertible) error {\n\tout",
		"ConvertTo(_ int, to apis.Convertible) error {\n\tout",
		"	ConvertTo(ctx context.Context, to Convertible) error\n", "",
		"	Steps string `json:\"steps\"`", "	// +apigen:conversion:drop\n	Steps string `json:\"steps\"`\n"+
			"	Spec v1.RunSpec `json:\"spec\"`",
	).Replace(contextualKinds)
	dir := loadtest.Dir(t, archive)
	res, err := generator.Build(t.Context(), generator.Options{
		Listings: loadtest.Listings, Dir: dir, Env: environment(),
	})
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, w := range res.Warnings {
		said += strings.TrimPrefix(w.Error(), dir+"/") + "\n"
	}
	for _, want := range []string{
		"apis/run/v1/types.go:25:15: method SetDefaults of Run is not called by the server: its signature is not `" +
			"func (in *Run) SetDefaults(ctx context.Context)`",
		"apis/run/v1/types.go:34:15: method Validate of Run is not called by the server: its signature is not",
		": method ConvertTo of v1beta1.Run is not called by the server: its signature is neither",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no warning %s:\n%s", want, said)
		}
	}
}

package wiring

import (
	"strings"
	"testing"
)

const promotedSource = `
-- api/v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Bulb struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	Shared            ` + "`json:\",inline\"`" + `
}

type Shared struct {
	Inner ` + "`json:\",inline\"`" + `
}

type Inner struct {
	Size int32 ` + "`json:\"size\"`" + `
}

func (s *Shared) Validate(ctx context.Context) field.ErrorList { return nil }

func (i *Inner) PrepareForCreate(ctx context.Context) {}
`

// TestPromotedHooks: the server calls the methods that a kind has by embedding a struct, as it calls the kind's own.
func TestPromotedHooks(t *testing.T) {
	code := emitted(t, promotedSource)
	for _, want := range []string{
		"Validate: func(ctx context.Context, obj *v1.Bulb) field.ErrorList { return obj.Validate(ctx) },",
		"PrepareForCreate: func(ctx context.Context, obj *v1.Bulb) { obj.PrepareForCreate(ctx) },",
	} {
		if !strings.Contains(code, want) {
			t.Errorf("no %q in\n%s", want, code)
		}
	}
}

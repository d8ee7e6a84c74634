package wiring

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

// columnSource is a kind with columns of text with ages in it, and a place of its own for the name.
const columnSource = `
-- shop/v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +apigen:printcolumn:name=Restarts,type=string,method=Restarts
// +apigen:printcolumn:name=Seen,type=TYPE,method=Seen
// +apigen:printcolumn:name=Name,format=name,priority=1
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
}

func (w *Widget) Restarts() (before string, since *metav1.Time, after string) { return }

func (w *Widget) Seen() (string, *time.Time, string) { return "", nil, "" }
`

func TestAgesWithinText(t *testing.T) {
	code := emitted(t, strings.ReplaceAll(columnSource, "TYPE", "string"))
	for _, want := range []string{
		"before, since, after := in.Restarts() if since == nil { return api.Text(before + after) } " +
			"return api.AgeWithin(before, since.Time, after)",
		"before, since, after := in.Seen()", "return api.AgeWithin(before, *since, after)",
	} {
		if !strings.Contains(code, want) {
			t.Errorf("no %q in\n%s", want, code)
		}
	}
}

func TestTextWithAnAgeIsAString(t *testing.T) {
	faults := Emitter().Faults(plan.New(loadtest.Program(t, strings.ReplaceAll(columnSource, "TYPE", "date"))))
	const want = `column "Seen": Seen returns text with an age in it: write type=string`
	if !strings.Contains(faults.Error(), want) {
		t.Errorf("got %v, want %s", faults, want)
	}
}

func TestTheNameStandsWhereItIsDeclared(t *testing.T) {
	code := emitted(t, strings.ReplaceAll(columnSource, "TYPE", "string"))
	const want = `{Name: "Seen", Type: "string"}, {Name: "Name", Type: "string", Format: "name", Priority: 1}, }`
	if !strings.Contains(code, want) || !strings.Contains(code, "return api.Text(in.Name)") {
		t.Errorf("no %q in\n%s", want, code)
	}
}

package wiring

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/model"
)

// TestBringsProtobuf: a kind has protobuf if it has all of the methods, as they must be.
func TestBringsProtobuf(t *testing.T) {
	const size, marshal, unmarshal = "Size() int { return 0 }", "Marshal() ([]byte, error) { return nil, nil }",
		"Unmarshal(data []byte) error { return nil }"
	for name, c := range map[string]struct {
		methods []string
		want    bool
	}{
		"all":                   {[]string{size, marshal, unmarshal}, true},
		"none":                  {nil, false},
		"no Size":               {[]string{marshal, unmarshal}, false},
		"Size of another type":  {[]string{"Size() int64 { return 0 }", marshal, unmarshal}, false},
		"Marshal to a string":   {[]string{size, "Marshal() (string, error) { return ``, nil }", unmarshal}, false},
		"Marshal without error": {[]string{size, "Marshal() []byte { return nil }", unmarshal}, false},
		"Unmarshal of many":     {[]string{size, marshal, "Unmarshal(data ...byte) error { return nil }"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var source strings.Builder
			source.WriteString(`
-- v1/types.go --
// +groupName=shop.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
}
`)
			for _, method := range c.methods {
				source.WriteString("\nfunc (w *Widget) " + method + "\n")
			}
			var widget *model.Type
			for _, pkg := range loadtest.Program(t, source.String()).Packages {
				for _, typ := range pkg.Types {
					if typ.Name == "Widget" {
						widget = typ
					}
				}
			}
			if got := widget.BringsProtobuf(); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

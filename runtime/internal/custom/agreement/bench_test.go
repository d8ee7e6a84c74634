package agreement_test

import (
	"fmt"
	"testing"

	"apigen.dev/runtime/internal/custom/agreement/trial"
	"apigen.dev/runtime/internal/custom/agreement/wiring"
	"apigen.dev/runtime/internal/verb"
)

// BenchmarkWrite creates and replaces objects of each kind by its Go type.
func BenchmarkWrite(b *testing.B) {
	for _, resource := range wiring.Group().Resources {
		kind := resource.Info().Names.Kind
		h := trial.Open(b, wiring.Group(), resource)
		opts := verb.WriteOptions{Form: verb.Form{Version: "v1"}}
		body := func(name string, n int) verb.Body {
			return verb.Body{Version: "v1", Data: fmt.Appendf(nil,
				`{"apiVersion":"agreement.example.com/v1","kind":%q,`+
					`"metadata":{"name":%q,"labels":{"n":"%d"}},"spec":{%s}}`, kind, name, n, typical[kind])}
		}
		b.Run("create "+kind, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n++
				name := fmt.Sprintf("o%d", n)
				if _, err := h.Create(b.Context(), "ns", body(name, n), opts); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if _, err := h.Delete(b.Context(), "ns", name, verb.DeleteOptions{}); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
		if _, err := h.Create(b.Context(), "ns", body("o", 0), opts); err != nil {
			b.Fatal(err)
		}
		b.Run("put "+kind, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n++
				if _, err := h.Update(b.Context(), "ns", "o", "", body("o", n), opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// typical are the fields of a typical object of each kind.
var typical = map[string]string{
	"Sign": `"title":"ab","margin":{"left":3},"logo":{"name":"a"},"lines":[{"text":"a"},{"text":"b"}],` +
		`"lamps":[{"name":"a"}]`,
	"Meter":  `"period":"5s","capacity":"1Gi","waits":[{"of":"a"}]`,
	"Poster": `"logo":{"name":"a"},"hue":"red","sheets":[{"scale":1}]`,
}

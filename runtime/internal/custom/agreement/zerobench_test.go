package agreement_test

import (
	"fmt"
	"testing"

	"apigen.dev/runtime/internal/custom/agreement/trial"
	"apigen.dev/runtime/internal/custom/agreement/wiring"
	"apigen.dev/runtime/internal/verb"
)

// BenchmarkZeros replaces an object that has no zero values, one of which a client sent five, and one in which a client
// left out what Go writes.
func BenchmarkZeros(b *testing.B) {
	const (
		head = `{"apiVersion":"agreement.example.com/v1","kind":%q,` +
			`"metadata":{"name":"o","labels":{"n":"%d"}},"spec":%s}`
		sign = `{"title":"ab","frame":{"color":"red","width":%[1]d},"logo":{"name":"%[2]s"},"lines":[{"text":"a",` +
			`"frame":{"color":"red","width":%[1]d}}],"lamps":[{"name":"a","margin":{"right":1}}],` +
			`"back":{"name":"%[2]s"},"border":{"color":"red","width":%[1]d}}`
	)
	for name, test := range map[string]struct{ kind, spec string }{
		"none": {"Sign", fmt.Sprintf(sign, 5, "a")},
		"sent": {"Sign", fmt.Sprintf(sign, 0, "")},
		"all": {"Meter", `{"panes":[{"tint":"dim","width":1,"form":"a"}],` +
			`"glass":{"tint":"dim","width":1,"form":"a"}}`},
		"unsent": {"Meter", `{"panes":[{"tint":"dim","width":1}],"glass":{"tint":"dim","width":1}}`},
	} {
		b.Run(name, func(b *testing.B) {
			for _, resource := range wiring.Group().Resources {
				if resource.Info().Names.Kind != test.kind {
					continue
				}
				h, opts := trial.Open(b, wiring.Group(), resource), verb.WriteOptions{Form: verb.Form{Version: "v1"}}
				body := func(n int) verb.Body {
					return verb.Body{Version: "v1", Data: fmt.Appendf(nil, head, test.kind, n, test.spec)}
				}
				if _, err := h.Create(b.Context(), "ns", body(0), opts); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					n++
					if _, err := h.Update(b.Context(), "ns", "o", "", body(n), opts); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

package collector

import (
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
)

// BenchmarkObserve is what an event costs the collector: of an object that nobody owns, while nobody owns any, and of
// one with an owner.
func BenchmarkObserve(b *testing.B) {
	rest := `},"spec":{"text":"` + strings.Repeat("x", 800) + `"}}`
	head := `"metadata":{"name":"a","namespace":"ns","uid":"4a7c4f84-7ff4-4f0e-9d0d-0f5f6a9b7c11","resourceVersion":"7"`
	owner := `,"ownerReferences":[{"apiVersion":"wood.example.com/v1","kind":"Tree","name":"oak","uid":"u",` +
		`"blockOwnerDeletion":true}]`
	for name, payload := range map[string]string{"free": head + rest, "owned": head + owner + rest} {
		b.Run(name, func(b *testing.B) {
			c := New(newWorld(b, true).handles, nil)
			event := verb.Event{Type: api.Modified, Object: verb.Rendition{Payload: []byte(payload)}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.observe(c.resources[0], &event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

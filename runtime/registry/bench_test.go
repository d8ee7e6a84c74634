package registry_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
)

var filler = strings.Repeat("x", 700)

// loaded opens widgets of about 1 KiB.
func loaded(b *testing.B, n int) *bench {
	w := openOver(b, memory.New(), registry.New(shop.Definition()),
		registry.Config{Schemas: ownership.NewSchemas("shop.example.com", shop.Documents())})
	for i := range n {
		w.create(fmt.Sprintf(`{"metadata":{"name":"w%05d","labels":{"even":"%t"}},"spec":{"color":"red",`+
			`"notes":{"a":%q}}}`, i, i%2 == 0, filler))
	}
	if err := readable(w); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	return w
}

// readable makes the cache catch up.
func readable(w *bench) error {
	page, err := w.List(w.ctx(), "ns", verb.ListOptions{}, v1)
	if err == nil {
		page.Close()
	}
	return err
}

func BenchmarkGet(b *testing.B) {
	for _, version := range []string{"", "0"} {
		b.Run("resourceVersion="+version, func(b *testing.B) {
			w := loaded(b, 1000)
			for b.Loop() {
				if _, err := w.Get(w.ctx(), "ns", "w00500", version, v1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	const n = 10000
	cases := map[string]struct {
		opts verb.ListOptions
		form verb.Form
		want int
	}{
		"stored":   {verb.ListOptions{ResourceVersion: "0"}, v1, n},
		"other":    {verb.ListOptions{ResourceVersion: "0"}, v1beta1, n},
		"table":    {verb.ListOptions{ResourceVersion: "0"}, verb.Form{Version: "v1", Shape: verb.RowWithMetadata}, n},
		"labels":   {verb.ListOptions{ResourceVersion: "0", Selection: selection(b, "even=true", "")}, v1, n / 2},
		"page":     {verb.ListOptions{Limit: 500}, v1, 500},
		"one name": {verb.ListOptions{Selection: selection(b, "", "metadata.name=w00500")}, v1, 1},
	}
	for name, c := range cases {
		b.Run(name, func(b *testing.B) {
			w := loaded(b, n)
			for b.Loop() {
				page, err := w.List(w.ctx(), "ns", c.opts, c.form)
				if err != nil {
					b.Fatal(err)
				}
				got := 0
				for range page.Items {
					got++
				}
				page.Close()
				if got != c.want {
					b.Fatal(got)
				}
			}
		})
	}
}

func BenchmarkCreate(b *testing.B) {
	w := loaded(b, 0)
	i := 0
	for b.Loop() {
		i++
		data := body(fmt.Sprintf(`{"metadata":{"name":"w%07d"},"spec":{"color":"red","notes":{"a":%q}}}`, i, filler))
		if _, err := w.Create(w.ctx(), "ns", data, verb.WriteOptions{Form: v1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	w := loaded(b, 2000)
	i := 0
	for b.Loop() {
		i++
		name := fmt.Sprintf("w%05d", i%2000)
		data := body(fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"size":%d,"color":"red","notes":{"a":%q}}}`, name, i,
			filler))
		if _, err := w.Update(w.ctx(), "ns", name, "", data, verb.WriteOptions{Form: v1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPatch(b *testing.B) {
	w := loaded(b, 2000)
	i := 0
	for b.Loop() {
		i++
		name := fmt.Sprintf("w%05d", i%2000)
		if _, err := w.Patch(w.ctx(), "ns", name, "", verb.MergePatch, body(fmt.Sprintf(`{"spec":{"size":%d}}`, i)),
			verb.WriteOptions{Form: v1}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUpdateAnswered is an update by the form of its answer.
func BenchmarkUpdateAnswered(b *testing.B) {
	forms := map[string]verb.Form{
		"stored": v1, "other": v1beta1, "metadata": {Version: "v1", Shape: verb.Metadata},
		"CBOR": {Version: "v1", Encoding: verb.CBOR}, "row": {Version: "v1", Shape: verb.RowWithMetadata},
	}
	for name, form := range forms {
		b.Run(name, func(b *testing.B) {
			w := loaded(b, 2000)
			i := 0
			for b.Loop() {
				i++
				name := fmt.Sprintf("w%05d", i%2000)
				data := body(fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"size":%d,"color":"red","notes":{"a":%q}}}`,
					name, i, filler))
				if _, err := w.Update(w.ctx(), "ns", name, "", data, verb.WriteOptions{Form: form}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkApply(b *testing.B) {
	for _, c := range []struct{ name, size string }{{"changed", "%d"}, {"unchanged", "7"}} {
		b.Run(c.name, func(b *testing.B) {
			w := loaded(b, 2000)
			i := 0
			for b.Loop() {
				i++
				name := fmt.Sprintf("w%05d", i%2000)
				size := strings.Replace(c.size, "%d", fmt.Sprint(i), 1)
				data := body(fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget",`+
					`"metadata":{"name":%q},"spec":{"size":%s}}`, name, size))
				if _, err := w.Patch(w.ctx(), "ns", name, "", verb.ApplyPatch, data, verb.WriteOptions{Form: v1,
					FieldManager: "b", Force: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// storedLabels opens labels of about 1 KiB, in an encoding.
func storedLabels(b *testing.B, encoding verb.Encoding, n int) *bench {
	w := openOver(b, memory.New(), registry.New(labelled()), registry.Config{Encoding: encoding})
	for i := range n {
		if _, err := w.Create(w.ctx(), "ns", labelNamed(i, 0), verb.WriteOptions{Form: v1}); err != nil {
			b.Fatal(err)
		}
	}
	if err := readable(w); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	return w
}

func labelNamed(i, change int) verb.Body {
	return body(fmt.Sprintf(`{"metadata":{"name":"l%07d","labels":{"even":"%t"},"annotations":{"a":%q,"change":"%d"}}}`,
		i, i%2 == 0, filler, change))
}

// BenchmarkEncodings is a list, a creation and an update, by the encodings of stored objects and of answers.
func BenchmarkEncodings(b *testing.B) {
	for _, stored := range []verb.Encoding{verb.JSON, verb.Protobuf} {
		for _, answered := range []verb.Encoding{verb.JSON, verb.Protobuf} {
			form := verb.Form{Version: "v1", Encoding: answered}
			name := fmt.Sprintf("stored=%v/answered=%v", stored, answered)
			b.Run(name+"/list", func(b *testing.B) {
				const n = 10000
				w := storedLabels(b, stored, n)
				size := 0
				for b.Loop() {
					page, err := w.List(w.ctx(), "ns", verb.ListOptions{ResourceVersion: "0"}, form)
					if err != nil {
						b.Fatal(err)
					}
					size = 0
					for r := range page.Items {
						size += len(r.Payload)
					}
					page.Close()
				}
				b.ReportMetric(float64(size)/n, "B/object")
			})
			b.Run(name+"/create", func(b *testing.B) {
				w, i := storedLabels(b, stored, 0), 0
				for b.Loop() {
					i++
					if _, err := w.Create(w.ctx(), "ns", labelNamed(i, 0), verb.WriteOptions{Form: form}); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(name+"/update", func(b *testing.B) {
				const n = 1000
				w, i := storedLabels(b, stored, n), 0
				for b.Loop() {
					i++
					if _, err := w.Update(w.ctx(), "ns", fmt.Sprintf("l%07d", i%n), "", labelNamed(i%n, i),
						verb.WriteOptions{Form: form}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		backend := memory.New()
		h, err := registry.New(shop.Definition()).Open(b.Context(), registry.Config{Backend: backend,
			Prefix: "/registry"})
		if err != nil {
			b.Fatal(err)
		}
		waitFor(b, h.Ready)
		h.Close()
		backend.Close()
	}
}

// TestListAllocatesNothingPerObject holds the promise of the read path, also in a form that is not the stored one.
func TestListAllocatesNothingPerObject(t *testing.T) {
	forms := []verb.Form{v1, v1beta1, {Version: "v1", Shape: verb.RowWithMetadata}}
	const more = 5 // a page of 1000 may take as many more than one of 10
	var allocs [2][]float64
	for i, n := range []int{10, 1000} {
		b := open(t, registry.New(shop.Definition()), true)
		for k := range n {
			b.create(fmt.Sprintf(`{"metadata":{"name":"w%05d","labels":{"a":"b"}},"spec":{"color":"red"}}`, k))
		}
		if err := readable(b); err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			for _, sel := range []string{"", "a=b"} {
				opts := verb.ListOptions{ResourceVersion: "0", Selection: selection(t, sel, "")}
				size, enough := 0, 0.0
				if i > 0 {
					enough = allocs[0][len(allocs[i])] + more
				}
				allocs[i] = append(allocs[i], fewestAllocs(enough, func() {
					page, err := b.List(b.ctx(), "ns", opts, form)
					if err != nil {
						t.Fatal(err)
					}
					for r := range page.Items {
						size += len(r.Payload)
					}
					page.Close()
				}))
				if size == 0 {
					t.Fatal("the list is empty")
				}
			}
		}
	}
	for i := range allocs[0] {
		if few, many := allocs[0][i], allocs[1][i]; many > few+more {
			t.Errorf("%v: %v allocations for 10 objects, %v for 1000", forms[i/2], few, many)
		}
	}
	t.Log(allocs)
}

// fewestAllocs is what f allocates. What others allocate meanwhile is counted too (the cache compares itself with the
// backend in tests), so the fewest of several measurements count, until one is enough.
func fewestAllocs(enough float64, f func()) float64 {
	fewest := math.Inf(1)
	for attempt := 0; attempt < 100 && fewest > enough; attempt++ {
		fewest = min(fewest, testing.AllocsPerRun(3, f))
	}
	return fewest
}

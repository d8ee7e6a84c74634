package registry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// forgetful compacts all history before the chunk-th range from now on.
type forgetful struct {
	storage.Backend
	chunk int
}

func (f *forgetful) Range(ctx ctxT, req storage.RangeRequest) (*storage.RangeResult, error) {
	if f.chunk--; f.chunk == 0 {
		now, err := f.Revision(ctx)
		if err == nil {
			err = f.Compact(ctx, now)
		}
		if err != nil {
			return nil, err
		}
	}
	return f.Backend.Range(ctx, req)
}

// A page that is read in several chunks may expire between them. What had been read of it was not answered, so the
// token
// that comes with the 410 must not lead behind it.
func TestExpiredPageIsTakenUpFromItsBeginning(t *testing.T) {
	backend := &forgetful{Backend: memory.New()}
	b := openOver(t, backend, registry.New(shop.Definition()), registry.Config{DisableCache: true})
	b.fill(30)
	opts := verb.ListOptions{Limit: 3, Selection: selection(t, "third=true", "")}
	first, page := b.names("ns", opts)
	b.create(`{"metadata":{"name":"later"}}`)

	backend.chunk = 2
	opts.Continue = page.Continue
	_, err := b.List(b.ctx(), "ns", opts, v1)
	if !apierrors.IsResourceExpired(err) {
		t.Fatalf("the page was read in one chunk: %v", err)
	}
	opts.Continue, opts.Limit = err.(apierrors.APIStatus).Status().Continue, 0
	rest, _ := b.names("ns", opts)
	if got, want := first+" "+rest, "w000 w003 w006 w009 w012 w015 w018 w021 w024 w027"; got != want {
		t.Errorf("listed %s, want %s", got, want)
	}
}

// Keys that no server made, by whoever writes to storage by hand, are listed like all others: once each, page by page.
func TestPagesGoThroughOddKeys(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		if b.transformer != nil {
			t.Skip("what is written by hand isn't encrypted")
		}
		const prefix = "/registry/shop.example.com/widgets/"
		keys := []string{"/x", "../x", "./y", "a//b", "ns", "ns/", "ns/..", "ns/\x00", "ns/a/b", "ns/UPPER%2f",
			"ns/\xff\xfe", "zz/ok", "\xff"}
		var want []string
		for i, key := range keys {
			name := fmt.Sprintf("odd%d", i)
			value := fmt.Sprintf(`{"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"name":%q,`+
				`"namespace":"ns"},"spec":{}}`, name)
			if _, err := b.backend.Put(b.ctx(), prefix+key, []byte(value), 0, 0); err != nil {
				t.Fatal(err)
			}
			want = append(want, name)
		}
		for limit := range int64(3) {
			var got []string
			opts := verb.ListOptions{Limit: limit + 1}
			for range 2 * len(keys) {
				names, page := b.names("", opts)
				got = append(got, strings.Fields(names)...)
				if opts.Continue = page.Continue; opts.Continue == "" {
					break
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("in pages of %d: %v", limit+1, got)
			}
		}
	})
}

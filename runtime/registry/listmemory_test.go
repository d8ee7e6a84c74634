package registry_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
)

var errShort = errors.New("short of memory")

// listMemory counts what a list asks for, and refuses it beyond most.
type listMemory struct{ held, most int64 }

func (m *listMemory) Expect(bytes int64) error { return m.Hold(bytes) }

func (m *listMemory) Hold(bytes int64) error {
	if m.held+bytes > m.most {
		return errShort
	}
	m.held += bytes
	return nil
}

// TestListsAskForMemory: a list asks for what the cache doesn't have in its form, and for all that it reads from
// storage. One that is refused ends with the error.
func TestListsAskForMemory(t *testing.T) {
	const n, size = 200, 10_000
	const all = n * size
	table := verb.Form{Version: "v1", Shape: verb.RowWithMetadata}
	for _, test := range []struct {
		name     string
		cached   bool
		opts     verb.ListOptions
		form     verb.Form
		min, max int64
	}{
		{"as stored", true, verb.ListOptions{}, v1, 0, 0},
		{"as stored, compressed", true, verb.ListOptions{Compress: true}, v1, 0, 0},
		{"another version", true, verb.ListOptions{}, v1beta1, all, all * 5 / 4},
		{"another version, compressed", true, verb.ListOptions{Compress: true}, v1beta1, all, all * 5 / 4},
		{"another version, selected", true, verb.ListOptions{Selection: selection(t, "even=true", "")}, v1beta1,
			all / 2, all * 5 / 4},
		{"a page in another version", true, verb.ListOptions{Limit: n / 4}, v1beta1, all / 4, all / 2},
		{"a table", true, verb.ListOptions{}, table, all, all * 5 / 4},
		{"from storage", false, verb.ListOptions{}, v1, all, all * 2},
		{"from storage, selected", false, verb.ListOptions{Selection: selection(t, "even=true", "")}, v1, all / 2,
			all * 5 / 4},
		{"from storage, another version", false, verb.ListOptions{}, v1beta1, all, all * 2},
		{"a page from storage", false, verb.ListOptions{Limit: n / 4}, v1, all / 4, all},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := openOver(t, memory.New(), registry.New(shop.Definition()),
				registry.Config{DisableCache: !test.cached, CompressCache: time.Hour})
			for i := range n {
				w.create(fmt.Sprintf(`{"metadata":{"name":"w%03d","labels":{"even":"%t"}},"spec":{"color":"red",
					"notes":{"a":%q}}}`, i, i%2 == 0, strings.Repeat("x", size)))
			}
			list := func(m *listMemory) error {
				opts := test.opts
				opts.Memory = m
				page, err := w.List(w.ctx(), "ns", opts, test.form)
				if err == nil {
					page.Close()
				}
				return err
			}
			if test.max > 0 {
				if err := list(&listMemory{most: test.min - 1}); !errors.Is(err, errShort) {
					t.Errorf("with too little memory: %v", err)
				}
			}
			m := &listMemory{most: 1 << 40}
			if err := list(m); err != nil || m.held < test.min || m.held > test.max {
				t.Errorf("the list asked for %d bytes (%v), want %d to %d", m.held, err, test.min, test.max)
			}
			again, want := &listMemory{most: 1 << 40}, m.held
			if test.cached {
				want = 0
			}
			if err := list(again); err != nil || again.held != want {
				t.Errorf("the second list asked for %d bytes (%v), want %d", again.held, err, want)
			}
		})
	}
}

// TestDeletedCollectionsAskForMemory: what the answer keeps of a collection that is deleted counts, and nothing is
// deleted if there is no memory for it.
func TestDeletedCollectionsAskForMemory(t *testing.T) {
	const n, size = 200, 10_000
	const all = n * size
	for _, test := range []struct {
		name     string
		cached   bool
		form     verb.Form
		min, max int64
	}{
		{"as stored", true, v1, 0, 0},
		{"another version", true, v1beta1, all, all * 5 / 4},
		{"from storage", false, v1, all, all * 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := openOver(t, memory.New(), registry.New(shop.Definition()),
				registry.Config{DisableCache: !test.cached, CompressCache: time.Hour})
			for i := range n {
				w.create(fmt.Sprintf(`{"metadata":{"name":"w%03d"},"spec":{"color":"red","notes":{"a":%q}}}`, i,
					strings.Repeat("x", size)))
			}
			remove := func(m *listMemory) (int, error) {
				opts := verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: test.form}}
				page, err := w.DeleteCollection(w.ctx(), "ns", opts, verb.ListOptions{Memory: m})
				if err != nil {
					return 0, err
				}
				defer page.Close()
				return page.Len, nil
			}
			if test.max > 0 {
				if _, err := remove(&listMemory{most: test.min - 1}); !errors.Is(err, errShort) {
					t.Errorf("with too little memory: %v", err)
				}
			}
			m := &listMemory{most: 1 << 40}
			if deleted, err := remove(m); err != nil || deleted != n || m.held < test.min || m.held > test.max {
				t.Errorf("%d deleted, %d bytes asked for (%v), want %d, and %d to %d", deleted, m.held, err, n,
					test.min, test.max)
			}
		})
	}
}

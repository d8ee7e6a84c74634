package storagetest

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/runtime/storage"
)

var reads = []property{
	{"GetOfAbsent", func(b *bench) {
		before := b.revision()
		kv, revision := b.get("a")
		b.same(kv, nil)
		if revision < before {
			b.Errorf("get at revision %d, expected %d or later", revision, before)
		}
		b.put("aa", "", 0)
		b.absent("a")
	}},
	{"GetRevisionOnly", func(b *bench) {
		written := b.put("a", "1", 0)
		kv, revision, err := b.Get(b.ctx, b.key("a"), storage.GetOptions{RevisionOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		b.same(kv, b.kv("a", "", written))
		if revision < written {
			b.Errorf("get at revision %d, after a write at %d", revision, written)
		}
		kv, _, err = b.Get(b.ctx, b.key("absent"), storage.GetOptions{RevisionOnly: true})
		if kv != nil || err != nil {
			b.Errorf("of an absent key: got %s, %v", describe(kv), err)
		}
	}},
	{"RangeIsOrdered", func(b *bench) {
		last := b.create("c", "a", "b/1", "b", "b0", "é")
		result := b.rangeOf(storage.RangeRequest{Prefix: b.prefix})
		b.expectNames(result, "a", "b", "b/1", "b0", "c", "é")
		if result.Revision < last || result.More || result.Remaining != 0 {
			b.Errorf("revision %d, more %t, remaining %d", result.Revision, result.More, result.Remaining)
		}
		for _, kv := range result.Items {
			one, _ := b.get(kv.Key[len(b.prefix):])
			b.same(&kv, one)
		}
	}},
	{"RangeOfNothing", func(b *bench) {
		result := b.rangeOf(storage.RangeRequest{Prefix: b.prefix, Limit: 3})
		if len(result.Items) != 0 || result.More || result.Remaining != 0 || result.Revision == 0 {
			b.Errorf("got %+v", result)
		}
	}},
	{"RangeKeepsToPrefix", func(b *bench) {
		b.create("pods", "pods.x", "pods/", "pods/a/1", "pods/a/2", "pods/ab/1", "pods0", "podsa", "pod")
		b.lists("pods/a/", "", "pods/a/1", "pods/a/2")
		b.lists("pods/", "", "pods/", "pods/a/1", "pods/a/2", "pods/ab/1")
		b.lists("pods/a", "", "pods/a/1", "pods/a/2", "pods/ab/1")
		b.create("\xff\xff", "\xff\xffx")
		b.lists("\xff\xff", "", "\xff\xff", "\xff\xffx")
	}},
	{"RangeFrom", func(b *bench) {
		b.create("a", "b", "b/1", "c")
		b.lists("", "b", "b", "b/1", "c")
		b.lists("", "b\x00", "b/1", "c")
		b.lists("", "d")
		b.lists("b", "b/", "b/1")
	}},
	{"RangeFromOutsidePrefixFails", func(b *bench) {
		b.create("a/1", "b/1")
		for _, from := range []string{b.key("b/1"), b.prefix, "/"} {
			if result, err := b.Range(b.ctx, storage.RangeRequest{Prefix: b.key("a/"), From: from}); err == nil {
				b.Errorf("from %q: got %d items, expected an error", from, len(result.Items))
			}
		}
	}},
	{"RangeLimit", func(b *bench) {
		b.create("a", "b", "c", "d", "e")
		for _, c := range []struct {
			from      string
			limit     int64
			names     []string
			remaining int64
		}{
			{"", 2, []string{"a", "b"}, 3},
			{"b", 2, []string{"b", "c"}, 2},
			{"d", 2, []string{"d", "e"}, 0},
			{"", 5, []string{"a", "b", "c", "d", "e"}, 0},
			{"", 9, []string{"a", "b", "c", "d", "e"}, 0},
			{"", 0, []string{"a", "b", "c", "d", "e"}, 0},
		} {
			req := storage.RangeRequest{Prefix: b.prefix, Limit: c.limit}
			if c.from != "" {
				req.From = b.key(c.from)
			}
			result := b.rangeOf(req)
			b.expectNames(result, c.names...)
			if result.Remaining != c.remaining || result.More != (c.remaining > 0) {
				b.Errorf("%+v: more %t, remaining %d, expected %d", c, result.More, result.Remaining, c.remaining)
			}
		}
	}},
	{"RangePagesAtOneRevision", func(b *bench) {
		for i := range 25 {
			b.create(fmt.Sprintf("%02d", i))
		}
		var names []string
		req := storage.RangeRequest{Prefix: b.prefix, Limit: 7}
		for page := 0; ; page++ {
			result := b.rangeOf(req)
			names = append(names, b.names(result)...)
			if req.Revision > 0 && result.Revision != req.Revision {
				b.Fatalf("asked for revision %d, got %d", req.Revision, result.Revision)
			}
			if !result.More {
				break
			}
			if want := int64(25 - len(names)); result.Remaining != want {
				b.Errorf("page %d: %d remaining, expected %d", page, result.Remaining, want)
			}
			req.Revision = result.Revision
			req.From = result.Items[len(result.Items)-1].Key + "\x00"
			b.create(fmt.Sprintf("%02d-%d", 20, page)) // must not be seen
			kv, _ := b.get(fmt.Sprintf("%02d", 24-page))
			b.remove(fmt.Sprintf("%02d", 24-page), kv.Revision) // must still be seen
		}
		if len(names) != 25 || !slices.IsSorted(names) {
			b.Errorf("got %q", names)
		}
	}},
	{"RangeAtRevision", func(b *bench) {
		first := b.put("a", "1", 0)
		second := b.put("b", "1", 0)
		third := b.put("a", "2", first)
		fourth := b.remove("b", second)
		for _, c := range []struct {
			revision int64
			want     []storage.KeyValue
		}{
			{first, []storage.KeyValue{*b.kv("a", "1", first)}},
			{second, []storage.KeyValue{*b.kv("a", "1", first), *b.kv("b", "1", second)}},
			{third, []storage.KeyValue{*b.kv("a", "2", third), *b.kv("b", "1", second)}},
			{fourth, []storage.KeyValue{*b.kv("a", "2", third)}},
		} {
			result := b.rangeOf(storage.RangeRequest{Prefix: b.prefix, Revision: c.revision})
			if result.Revision != c.revision {
				b.Errorf("asked for revision %d, got %d", c.revision, result.Revision)
			}
			b.sameItems(result.Items, c.want)
		}
	}},
	{"RangeOfFutureRevisionFails", func(b *bench) {
		_, err := b.Range(b.ctx, storage.RangeRequest{Prefix: b.prefix, Revision: b.revision() + 1000})
		b.is(err, storage.ErrFutureRevision)
	}},
	{"RangeOfCompactedRevisionFails", func(b *bench) {
		first := b.put("a", "1", 0)
		second := b.put("a", "2", first)
		b.compact(second)
		_, err := b.Range(b.ctx, storage.RangeRequest{Prefix: b.prefix, Revision: first})
		if compacted := b.compacted(err); compacted.Revision != 0 && compacted.Revision != second {
			b.Errorf("the oldest revision is said to be %d, expected %d", compacted.Revision, second)
		}
		result := b.rangeOf(storage.RangeRequest{Prefix: b.prefix, Revision: second})
		b.expectNames(result, "a")
	}},
	{"RangeOfEverything", func(b *bench) {
		b.create("a", "b")
		all := b.rangeOf(storage.RangeRequest{})
		count, err := b.Count(b.ctx, "")
		if err != nil {
			b.Fatal(err)
		}
		if int64(len(all.Items)) != count || count < 2 {
			b.Errorf("%d items, count %d", len(all.Items), count)
		}
	}},
	{"Count", func(b *bench) {
		check := func(name string, want int64) {
			b.Helper()
			if got, err := b.Count(b.ctx, b.key(name)); err != nil || got != want {
				b.Errorf("%q: got %d, %v, expected %d", name, got, err, want)
			}
		}
		check("", 0)
		last := b.create("a", "a/1", "a/2", "ab", "b")
		check("", 5)
		check("a/", 2)
		check("a", 4)
		check("c", 0)
		b.remove("b", last)
		check("", 4)
	}},
	{"CompactKeepsCurrent", func(b *bench) {
		first := b.put("a", "1", 0)
		b.put("b", "1", 0)
		last := b.put("a", "2", first)
		b.compact(last)
		b.lists("", "", "a", "b")
		b.holds("a", "2", last)
		b.put("a", "3", last)
	}},
	{"CompactTwiceFails", func(b *bench) {
		first := b.create("a")
		last := b.create("b")
		b.compact(last)
		for _, revision := range []int64{first, last} {
			b.compacted(b.Compact(b.ctx, revision))
		}
	}},
	{"CompactOfFutureFails", func(b *bench) {
		b.is(b.Compact(b.ctx, b.revision()+1000), storage.ErrFutureRevision)
	}},
}

func (b *bench) names(result *storage.RangeResult) (names []string) {
	b.Helper()
	for _, kv := range result.Items {
		name, ok := strings.CutPrefix(kv.Key, b.prefix)
		if !ok {
			b.Fatalf("%q is outside of %q", kv.Key, b.prefix)
		}
		names = append(names, name)
	}
	return names
}

func (b *bench) expectNames(result *storage.RangeResult, names ...string) {
	b.Helper()
	if got := b.names(result); !slices.Equal(got, names) {
		b.Errorf("got %q, expected %q", got, names)
	}
}

// lists checks the names that a range of a prefix returns; it begins at from, if that isn't "".
func (b *bench) lists(prefix, from string, names ...string) {
	b.Helper()
	req := storage.RangeRequest{Prefix: b.key(prefix)}
	if from != "" {
		req.From = b.key(from)
	}
	b.expectNames(b.rangeOf(req), names...)
}

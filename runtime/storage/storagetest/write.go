package storagetest

import (
	"strings"

	"apigen.dev/runtime/storage"
)

var writes = []property{
	{"CreateThenGet", func(b *bench) {
		written := b.put("a", "1", 0)
		kv, revision := b.get("a")
		b.same(kv, b.kv("a", "1", written))
		if revision < written {
			b.Errorf("get at revision %d, after a write at %d", revision, written)
		}
	}},
	{"CreateOfPresentConflicts", func(b *bench) {
		b.put("a", "1", 0)
		b.putConflicts("a", 0)
	}},
	{"PutOverRightRevision", func(b *bench) {
		first := b.put("a", "1", 0)
		second := b.put("a", "2", first)
		b.holds("a", "2", second)
	}},
	{"PutOverWrongRevisionConflicts", func(b *bench) {
		first := b.put("a", "1", 0)
		b.put("a", "2", first)
		b.putConflicts("a", first)
	}},
	{"PutOverAbsentConflicts", func(b *bench) {
		b.putConflicts("a", b.revision())
	}},
	{"DeleteAtRightRevision", func(b *bench) {
		written := b.put("a", "1", 0)
		removed := b.remove("a", written)
		if removed <= written {
			b.Errorf("removed at revision %d, written at %d", removed, written)
		}
		kv, revision := b.get("a")
		b.same(kv, nil)
		if revision < removed {
			b.Errorf("get at revision %d, after a removal at %d", revision, removed)
		}
	}},
	{"DeleteAtWrongRevisionConflicts", func(b *bench) {
		first := b.put("a", "1", 0)
		b.put("a", "2", first)
		current, _ := b.get("a")
		_, err := b.Delete(b.ctx, b.key("a"), first)
		b.conflict(err, "a", first, current)
	}},
	{"DeleteOfAbsentConflicts", func(b *bench) {
		written := b.put("a", "1", 0)
		b.remove("a", written)
		_, err := b.Delete(b.ctx, b.key("a"), written)
		b.conflict(err, "a", written, nil)
	}},
	{"DeleteWithoutRevisionFails", func(b *bench) {
		b.put("a", "1", 0)
		before, _ := b.get("a")
		for _, name := range []string{"a", "absent"} {
			if _, err := b.Delete(b.ctx, b.key(name), 0); err == nil {
				b.Errorf("delete of %s expecting 0 succeeded", name)
			}
		}
		after, _ := b.get("a")
		b.same(after, before)
	}},
	{"CreateAfterDelete", func(b *bench) {
		first := b.put("a", "1", 0)
		removed := b.remove("a", first)
		second := b.put("a", "2", 0)
		if second <= removed {
			b.Errorf("created again at revision %d, removed at %d", second, removed)
		}
		b.putConflicts("a", first)
	}},
	{"EmptyValue", func(b *bench) {
		written := b.put("a", "", 0)
		b.holds("a", "", written)
	}},
	{"AnyBytes", func(b *bench) {
		value := make([]byte, 256)
		for i := range value {
			value[i] = byte(i)
		}
		name := "é\x00\xff\x01"
		written := b.put(name, string(value), 0)
		b.holds(name, string(value), written)
	}},
	{"RevisionsIncreaseAcrossKeys", func(b *bench) {
		last := b.revision()
		latest := map[string]int64{}
		for i := range 50 {
			name := []string{"a", "b", "other/c"}[i%3]
			revision := b.put(name, "value", latest[name])
			if i%7 == 6 {
				if revision <= last {
					b.Fatalf("write %d at revision %d, after %d", i, revision, last)
				}
				last, revision = revision, b.remove(name, revision)
				latest[name] = 0
			} else {
				latest[name] = revision
			}
			if revision <= last {
				b.Fatalf("write %d at revision %d, after %d", i, revision, last)
			}
			last = revision
			if now := b.revision(); now < last {
				b.Fatalf("the backend is at revision %d after a write at %d", now, last)
			}
		}
	}},
	{"FailedWritesWriteNothing", func(b *bench) {
		written := b.put("a", "1", 0)
		events := b.watch(written)
		for _, expect := range []int64{0, written - 1, written + 1} {
			if _, err := b.Put(b.ctx, b.key("a"), []byte("2"), expect, 0); err == nil {
				b.Fatalf("put expecting %d succeeded", expect)
			}
		}
		if _, err := b.Delete(b.ctx, b.key("a"), written+1); err == nil {
			b.Fatal("delete at a wrong revision succeeded")
		}
		b.holds("a", "1", written)
		last := b.put("end", "", 0)
		events.seesUntil(last, 1)
	}},
	{"LargeValue", func(b *bench) {
		value := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB, which kube-apiserver's users rely on
		b.put("a", value, 0)
		kv, _ := b.get("a")
		if kv == nil || string(kv.Value) != value {
			b.Error("the value came back changed")
		}
	}},
	{"TooLargeValue", func(b *bench) {
		for _, size := range []int{3<<19 + 1, 3 << 20} {
			_, err := b.Put(b.ctx, b.key("a"), make([]byte, size), 0, 0)
			b.is(err, storage.ErrTooLarge)
		}
		b.absent("a")
	}},
}

// putConflicts checks that a write of a key conflicts with its present state, which the write leaves as it is.
func (b *bench) putConflicts(name string, expect int64) {
	b.Helper()
	before, _ := b.get(name)
	_, err := b.Put(b.ctx, b.key(name), []byte("new"), expect, 0)
	b.conflict(err, name, expect, before)
	after, _ := b.get(name)
	b.same(after, before)
}

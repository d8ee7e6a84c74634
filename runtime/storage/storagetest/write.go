package storagetest

import (
	"bytes"
	"errors"
	"strings"

	"apigen.dev/runtime/storage"
)

var writes = []property{
	{"CreateThenGet", createThenGet},
	{"CreateOfPresentConflicts", createOfPresentConflicts},
	{"PutOverRightRevision", putOverRightRevision},
	{"PutOverWrongRevisionConflicts", putOverWrongRevisionConflicts},
	{"PutOverAbsentConflicts", putOverAbsentConflicts},
	{"DeleteAtRightRevision", deleteAtRightRevision},
	{"DeleteAtWrongRevisionConflicts", deleteAtWrongRevisionConflicts},
	{"DeleteOfAbsentConflicts", deleteOfAbsentConflicts},
	{"DeleteWithoutRevisionFails", deleteWithoutRevisionFails},
	{"CreateAfterDelete", createAfterDelete},
	{"EmptyValue", emptyValue},
	{"AnyBytes", anyBytes},
	{"RevisionsIncreaseAcrossKeys", revisionsIncreaseAcrossKeys},
	{"FailedWritesWriteNothing", failedWritesWriteNothing},
	{"LargeValue", largeValue},
	{"TooLargeValue", tooLargeValue},
}

func createThenGet(b *bench) {
	written := b.put("a", "1", 0)
	kv, revision := b.get("a")
	b.same(kv, &storage.KeyValue{Key: b.key("a"), Value: []byte("1"), Revision: written})
	if revision < written {
		b.Errorf("get at revision %d, after a write at %d", revision, written)
	}
}

func createOfPresentConflicts(b *bench) {
	b.put("a", "1", 0)
	current, _ := b.get("a")
	_, err := b.Put(b.ctx, b.key("a"), []byte("2"), 0, 0)
	b.conflict(err, "a", 0, current)
}

func putOverRightRevision(b *bench) {
	first := b.put("a", "1", 0)
	second := b.put("a", "2", first)
	kv, _ := b.get("a")
	b.same(kv, &storage.KeyValue{Key: b.key("a"), Value: []byte("2"), Revision: second})
}

func putOverWrongRevisionConflicts(b *bench) {
	first := b.put("a", "1", 0)
	b.put("a", "2", first)
	current, _ := b.get("a")
	_, err := b.Put(b.ctx, b.key("a"), []byte("3"), first, 0)
	b.conflict(err, "a", first, current)
}

func putOverAbsentConflicts(b *bench) {
	revision := b.revision()
	_, err := b.Put(b.ctx, b.key("a"), []byte("1"), revision, 0)
	b.conflict(err, "a", revision, nil)
}

func deleteAtRightRevision(b *bench) {
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
}

func deleteAtWrongRevisionConflicts(b *bench) {
	first := b.put("a", "1", 0)
	b.put("a", "2", first)
	current, _ := b.get("a")
	_, err := b.Delete(b.ctx, b.key("a"), first)
	b.conflict(err, "a", first, current)
}

func deleteOfAbsentConflicts(b *bench) {
	written := b.put("a", "1", 0)
	b.remove("a", written)
	_, err := b.Delete(b.ctx, b.key("a"), written)
	b.conflict(err, "a", written, nil)
}

func deleteWithoutRevisionFails(b *bench) {
	b.put("a", "1", 0)
	before, _ := b.get("a")
	for _, name := range []string{"a", "absent"} {
		if _, err := b.Delete(b.ctx, b.key(name), 0); err == nil {
			b.Errorf("delete of %s expecting 0 succeeded", name)
		}
	}
	after, _ := b.get("a")
	b.same(after, before)
}

func createAfterDelete(b *bench) {
	first := b.put("a", "1", 0)
	removed := b.remove("a", first)
	second := b.put("a", "2", 0)
	if second <= removed {
		b.Errorf("created again at revision %d, removed at %d", second, removed)
	}
	_, err := b.Put(b.ctx, b.key("a"), []byte("3"), first, 0)
	current, _ := b.get("a")
	b.conflict(err, "a", first, current)
}

func emptyValue(b *bench) {
	written := b.put("a", "", 0)
	kv, _ := b.get("a")
	b.same(kv, &storage.KeyValue{Key: b.key("a"), Revision: written})
}

func anyBytes(b *bench) {
	value := make([]byte, 256)
	for i := range value {
		value[i] = byte(i)
	}
	name := "é\x00\xff\x01"
	b.put(name, string(value), 0)
	kv, _ := b.get(name)
	if kv == nil || !bytes.Equal(kv.Value, value) {
		b.Errorf("got %s", describe(kv))
	}
}

func revisionsIncreaseAcrossKeys(b *bench) {
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
}

func failedWritesWriteNothing(b *bench) {
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
	kv, _ := b.get("a")
	b.same(kv, &storage.KeyValue{Key: b.key("a"), Value: []byte("1"), Revision: written})
	last := b.put("end", "", 0)
	if got := events.until(last); len(got) != 1 {
		b.Errorf("events: %v", brief(got))
	}
}

func largeValue(b *bench) {
	value := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB, which kube-apiserver's users rely on
	b.put("a", value, 0)
	kv, _ := b.get("a")
	if kv == nil || string(kv.Value) != value {
		b.Error("the value came back changed")
	}
}

func tooLargeValue(b *bench) {
	for _, size := range []int{3<<19 + 1, 3 << 20} {
		_, err := b.Put(b.ctx, b.key("a"), make([]byte, size), 0, 0)
		if !errors.Is(err, storage.ErrTooLarge) {
			b.Errorf("put of %d bytes: got %v, expected ErrTooLarge", size, err)
		}
	}
	kv, _ := b.get("a")
	b.same(kv, nil)
}

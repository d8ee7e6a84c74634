package storagetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/runtime/storage"
)

type model struct {
	*bench
	states map[int64]map[string]storage.KeyValue // by revision, those of the bench's prefix alone
	events []storage.Event
	now    map[string]storage.KeyValue
	oldest int64
}

func randomOperationsAgreeWithModel(b *bench) {
	seed := rand.Uint64()
	b.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	start := b.revision()
	m := &model{bench: b, now: map[string]storage.KeyValue{}, states: map[int64]map[string]storage.KeyValue{},
		oldest: start}
	m.states[start] = maps.Clone(m.now)
	live := b.watch(start)
	for range 400 {
		name := fmt.Sprintf("%c/%d", 'a'+rune(random.IntN(3)), random.IntN(8))
		switch random.IntN(12) {
		case 0, 1, 2, 3:
			m.randomPut(random, name)
		case 4, 5:
			m.randomDelete(random, name)
		case 6, 7:
			m.checkGet(name)
		case 8, 9, 10:
			m.checkRange(random)
		case 11:
			m.randomCompact(random)
		}
		if b.Failed() {
			return
		}
	}
	m.checkEvents(live)
}

// expectation returns the right revision of a key most of the time.
func (m *model) expectation(random *rand.Rand, name string) int64 {
	expect := m.now[name].Revision
	if random.IntN(4) == 0 {
		return max(expect-1, 0)
	}
	return expect
}

func (m *model) written(revision int64, event storage.Event) {
	event.Revision = revision
	m.events = append(m.events, event)
	m.states[revision] = maps.Clone(m.now)
}

func (m *model) randomPut(random *rand.Rand, name string) {
	expect, value := m.expectation(random, name), strconv.Itoa(random.Int())
	revision, err := m.Put(m.ctx, m.key(name), []byte(value), expect, 0)
	current := m.current(name)
	if expect != m.now[name].Revision {
		m.conflict(err, name, expect, current)
		return
	}
	if err != nil {
		m.Errorf("put of %s: %v", name, err)
		return
	}
	event := storage.Event{Created: current == nil, KeyValue: *m.kv(name, value, revision), Previous: current}
	m.now[name] = event.KeyValue
	m.written(revision, event)
}

func (m *model) randomDelete(random *rand.Rand, name string) {
	current, expect := m.current(name), m.expectation(random, name)
	if expect == 0 {
		return
	}
	revision, err := m.Delete(m.ctx, m.key(name), expect)
	if current == nil || expect != current.Revision {
		m.conflict(err, name, expect, current)
		return
	}
	if err != nil {
		m.Errorf("delete of %s: %v", name, err)
		return
	}
	delete(m.now, name)
	m.written(revision, storage.Event{Deleted: true, KeyValue: storage.KeyValue{Key: m.key(name)}, Previous: current})
}

func (m *model) current(name string) *storage.KeyValue {
	if kv, exists := m.now[name]; exists {
		return &kv
	}
	return nil
}

func (m *model) checkGet(name string) {
	got, _ := m.get(name)
	m.same(got, m.current(name))
}

func (m *model) checkRange(random *rand.Rand) {
	req := storage.RangeRequest{Prefix: m.key([]string{"", "a/", "b/", "c/"}[random.IntN(4)]),
		Limit: int64(random.IntN(10))}
	if random.IntN(2) == 0 {
		req.From = req.Prefix + strconv.Itoa(random.IntN(8))
	}
	state := m.now
	if random.IntN(2) == 0 {
		req.Revision = slices.Sorted(maps.Keys(m.states))[random.IntN(len(m.states))]
		state = m.states[req.Revision]
	}
	result, err := m.Range(m.ctx, req)
	if req.Revision > 0 && req.Revision < m.oldest {
		m.compacted(err)
		return
	}
	if err != nil {
		m.Errorf("range %+v: %v", req, err)
		return
	}
	var want []storage.KeyValue
	for _, name := range slices.Sorted(maps.Keys(state)) {
		if kv := state[name]; strings.HasPrefix(kv.Key, req.Prefix) && kv.Key >= req.From {
			want = append(want, kv)
		}
	}
	total := len(want)
	if req.Limit > 0 && total > int(req.Limit) {
		want = want[:req.Limit]
	}
	if remaining := int64(total - len(want)); result.Remaining != remaining || result.More != (remaining > 0) {
		m.Errorf("range %+v: more %t, remaining %d, expected %d", req, result.More, result.Remaining, remaining)
	}
	m.sameItems(result.Items, want)
}

func (b *bench) sameItems(got, want []storage.KeyValue) {
	b.Helper()
	if len(got) != len(want) {
		b.Fatalf("got %d items, expected %d", len(got), len(want))
	}
	for i := range got {
		b.same(&got[i], &want[i])
	}
}

func (m *model) randomCompact(random *rand.Rand) {
	if len(m.events) == 0 || random.IntN(4) > 0 {
		return
	}
	revision := m.events[random.IntN(len(m.events))].Revision
	if revision <= m.oldest {
		return
	}
	m.compact(revision)
	m.oldest = revision
}

// checkEvents compares the events of a watch from the start, and those of a watch from the compaction.
func (m *model) checkEvents(live *observer) {
	m.sameEvents(live.events(len(m.events)), m.events, m.oldest)
	var rest []storage.Event
	for _, event := range m.events {
		if event.Revision > m.oldest {
			rest = append(rest, event)
		}
	}
	if len(rest) > 0 {
		m.sameEvents(m.watch(m.oldest).events(len(rest)), rest, m.oldest)
	}
}

// sameEvents compares events. Their previous states up to the revision compacted may be gone.
func (b *bench) sameEvents(got, want []storage.Event, compacted int64) {
	b.Helper()
	for i := range want {
		b.sameKind(i, &got[i], &want[i])
		b.same(&got[i].KeyValue, &want[i].KeyValue)
		if got[i].Previous != nil || want[i].Previous == nil || want[i].Previous.Revision > compacted {
			b.same(got[i].Previous, want[i].Previous)
		}
	}
}

package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
)

const recordKey = "/registry/_apigen/storageversions/widgets.shop.example.com"

// oldShop is the server of yesterday, which stores v1beta1 and knows v1 too; it encrypts with what it is given.
func oldShop() registry.Resource {
	d := shop.Definition()
	d.Storage = "v1beta1"
	return registry.New(d)
}

// newShop is that of tomorrow: v1beta1 is gone.
func newShop() registry.Resource {
	d := shop.Definition()
	d.Versions = d.Versions[:1]
	return registry.New(d)
}

// record is the record of versions.
func (b *bench) record() string {
	b.Helper()
	kv, _, err := b.backend.Get(b.ctx(), recordKey, storage.GetOptions{})
	if err != nil || kv == nil {
		b.Fatal(kv, err)
	}
	return strings.TrimSpace(string(kv.Value))
}

func migrate(t *testing.T, backend storage.Backend, resource registry.Resource, transformer store.Transformer,
	opts store.MigrateOptions) store.Migration {
	t.Helper()
	m, err := registry.Migrate(t.Context(), resource, registry.Config{Backend: backend, Prefix: "/registry",
		Transformer: transformer}, opts)
	if err != nil {
		t.Fatalf("%+v: %v", m, err)
	}
	return m
}

// fillOld writes n widgets as yesterday's server did.
func fillOld(t *testing.T, backend storage.Backend, n int, transformer store.Transformer) {
	t.Helper()
	h, err := oldShop().Open(t.Context(), registry.Config{Backend: backend, Prefix: "/registry", DisableCache: true,
		Transformer: transformer})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for i := range n {
		data := fmt.Sprintf(`{"metadata":{"name":"w%03d","finalizers":["x.example.com/y"]},"spec":{"color":"red",`+
			`"size":%d}}`, i, i+1)
		if _, err := h.Create(t.Context(), "ns", body(data), verb.WriteOptions{Form: v1}); err != nil {
			t.Fatal(err)
		}
	}
}

// The whole way: yesterday's objects are refused by tomorrow's server, until today's has migrated them.
func TestMigration(t *testing.T) {
	e := newEncryptionFile(t, "one")
	backend := openBackend(t)
	fillOld(t, backend, 12, e.transformer())
	config := registry.Config{Backend: backend, Prefix: "/registry", Transformer: e.transformer()}
	_, err := newShop().Open(t.Context(), config)
	const want = "opening widgets.shop.example.com: objects may be stored in v1beta1, which this server cannot " +
		"read (it reads v1): migrate them with a server that can"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Fatal(err)
	}
	e.set("two", "one")
	today := openOver(t, backend, registry.New(shop.Definition()), registry.Config{Transformer: e.transformer()})
	before := today.get("w003")

	m := migrate(t, backend, registry.New(shop.Definition()), e.transformer(), store.MigrateOptions{DryRun: true})
	if m.Read != 12 || m.Total != 12 || m.Stale != 12 || m.Rewritten != 0 ||
		today.get("w003").ResourceVersion != before.ResourceVersion {
		t.Errorf("dry run: %+v", m)
	}
	if got := today.record(); got != `{"versions":["v1beta1"]}` {
		t.Error(got)
	}
	m = migrate(t, backend, registry.New(shop.Definition()), e.transformer(), store.MigrateOptions{})
	if m.Read != 12 || m.Stale != 12 || m.Rewritten != 12 || m.Unreadable != 0 || fmt.Sprint(m.Stored) != "[v1]" {
		t.Errorf("%+v", m)
	}
	after := today.get("w003")
	if after.ResourceVersion == before.ResourceVersion || after.Generation != before.Generation ||
		after.UID != before.UID ||
		after.Spec.Color != "red" || after.Spec.Size != 4 || len(after.Finalizers) != 1 {
		t.Errorf("%+v became %+v", before, after)
	}
	if kv := today.raw("w003"); !strings.HasPrefix(string(kv.Value), "k8s:enc:aesgcm:v1:two:") {
		t.Errorf("stored %q", kv.Value)
	}
	revision, _ := backend.Revision(t.Context())
	if m = migrate(t, backend, registry.New(shop.Definition()), e.transformer(),
		store.MigrateOptions{}); m.Stale != 0 || m.Read != 12 {
		t.Errorf("a second time: %+v", m)
	}
	if now, _ := backend.Revision(t.Context()); now != revision {
		t.Error("the second time wrote something")
	}
	tomorrow, err := newShop().Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer tomorrow.Close()
	if _, err := tomorrow.Get(t.Context(), "ns", "w003", "", v1); err != nil {
		t.Error(err)
	}
}

// What can't be read is named and left alone, and the version that it tells stays on record.
func TestMigrationLeavesTheUnreadable(t *testing.T) {
	backend := openBackend(t)
	fillOld(t, backend, 3, nil)
	for name, value := range map[string]string{
		"alien": `{"kind":"Widget","apiVersion":"shop.example.com/v7","metadata":{"name":"alien"}}`,
		"other": `{"kind":"Thing","apiVersion":"shop.example.com/v1beta1","metadata":{"name":"other"}}`,
	} {
		if _, err := backend.Put(t.Context(), widgetKey+name, []byte(value), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	m := migrate(t, backend, registry.New(shop.Definition()), nil, store.MigrateOptions{})
	if m.Read != 5 || m.Rewritten != 3 || m.Unreadable != 2 || len(m.Errors) != 2 ||
		!strings.Contains(m.Errors[0].Error(), widgetKey+"alien") {
		t.Errorf("%+v", m)
	}
	if fmt.Sprint(m.Stored) != "[v1 v1beta1 v7]" {
		t.Errorf("on record: %v", m.Stored)
	}
	if _, err := registry.New(shop.Definition()).Open(t.Context(), registry.Config{Backend: backend,
		Prefix: "/registry"}); err == nil || !strings.Contains(err.Error(), "objects may be stored in v7") {
		t.Error(err)
	}
}

// Where there is something whose version can't be told, no version goes off the record.
func TestMigrationWithoutKeyTrimsNothing(t *testing.T) {
	e := newEncryptionFile(t, "one")
	backend := openBackend(t)
	fillOld(t, backend, 2, e.transformer())
	e.set("two", "-")
	m := migrate(t, backend, registry.New(shop.Definition()), e.transformer(), store.MigrateOptions{})
	if m.Rewritten != 0 || m.Unreadable != 2 || fmt.Sprint(m.Stored) != "[v1beta1]" ||
		!strings.Contains(m.Errors[0].Error(), `aesgcm key "one"`) {
		t.Errorf("%+v", m)
	}
}

// A version of which nothing is left goes off the record, also by a server that could not read it.
func TestMigrationTrims(t *testing.T) {
	b := open(t, registry.New(shop.Definition()), false)
	b.create(`{"metadata":{"name":"a"}}`)
	kv, _, _ := b.backend.Get(t.Context(), recordKey, storage.GetOptions{})
	if _, err := b.backend.Put(t.Context(), recordKey, []byte(`{"versions":["v0","v1"]}`), kv.Revision, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := registry.New(shop.Definition()).Open(t.Context(), registry.Config{Backend: b.backend,
		Prefix: "/registry"}); err == nil {
		t.Fatal("a server started that may not be able to read all")
	}
	if m := migrate(t, b.backend, registry.New(shop.Definition()), nil,
		store.MigrateOptions{}); fmt.Sprint(m.Stored) != "[v1]" || m.Stale != 0 {
		t.Errorf("%+v", m)
	}
}

// A database that was written before there were records gets one.
func TestMigrationRecords(t *testing.T) {
	backend := openBackend(t)
	old := `{"kind":"Widget","apiVersion":"shop.example.com/v1beta1","metadata":{"name":"a","namespace":"ns"},` +
		`"spec":{"colour":"red"}}`
	if _, err := backend.Put(t.Context(), widgetKey+"a", []byte(old), 0, 0); err != nil {
		t.Fatal(err)
	}
	if m := migrate(t, backend, registry.New(shop.Definition()), nil,
		store.MigrateOptions{}); fmt.Sprint(m.Stored) != "[v1]" || m.Rewritten != 1 {
		t.Errorf("%+v", m)
	}
}

// racing has somebody else change each object just before it is written again, once or for ever.
type racing struct {
	storage.Backend
	value  func(key string) string
	always bool
	done   map[string]bool
	after  func() // a Put that went well
	fail   error
}

func (r *racing) Put(ctx ctxT, key string, value []byte, expect int64, ttl durationT) (int64, error) {
	if strings.HasPrefix(key, widgetKey) && r.value != nil && (r.always || !r.done[key]) {
		r.done[key] = true
		if _, err := r.Backend.Put(ctx, key, []byte(r.value(key)), expect, ttl); err != nil {
			return 0, err
		}
	}
	revision, err := r.Backend.Put(ctx, key, value, expect, ttl)
	if err == nil && r.after != nil && strings.HasPrefix(key, widgetKey) {
		r.after()
		if r.fail != nil {
			return 0, r.fail
		}
	}
	return revision, err
}

// Objects that somebody else changes meanwhile are taken as they become.
// What another server wrote with a time to live is written again with what is left of it.
func TestMigrationKeepsTheTimeToLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := openBackend(t)
		const key = "/registry/shop.example.com/widgets/ns/a"
		old := `{"kind":"Widget","apiVersion":"shop.example.com/v1beta1","metadata":{"name":"a","namespace":"ns"},` +
			`"spec":{"colour":"red"}}`
		if _, err := backend.Put(t.Context(), key, []byte(old), 0, time.Hour); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Minute)
		m := migrate(t, backend, registry.New(shop.Definition()), nil, store.MigrateOptions{})
		if m.Rewritten != 1 {
			t.Errorf("%+v", m)
		}
		time.Sleep(9 * time.Minute)
		if kv, _, err := backend.Get(t.Context(), key, storage.GetOptions{}); err != nil || kv == nil {
			t.Errorf("it is gone before its time: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if kv, _, err := backend.Get(t.Context(), key, storage.GetOptions{}); err != nil || kv != nil {
			t.Errorf("it outlived its time: %v %v", kv, err)
		}
	})
}

func TestMigrationAgainstOthers(t *testing.T) {
	const stale = `{"kind":"Widget","apiVersion":"shop.example.com/v1beta1","metadata":{"name":"%s",` +
		`"namespace":"ns","uid":"u"},"spec":{"colour":"blue","size":7}}`
	const fresh = `{"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"name":"%s","namespace":"ns",` +
		`"uid":"u"},"spec":{"color":"blue","size":7}}` + "\n"
	for name, test := range map[string]struct {
		theirs    string
		rewritten int64
	}{"changed by an old server": {stale, 5}, "changed by a new one": {fresh, 0}} {
		t.Run(name, func(t *testing.T) {
			backend := openBackend(t)
			fillOld(t, backend, 5, nil)
			other := &racing{Backend: backend, done: map[string]bool{}, value: func(key string) string {
				return fmt.Sprintf(test.theirs, strings.TrimPrefix(key, widgetKey))
			}}
			m := migrate(t, other, registry.New(shop.Definition()), nil, store.MigrateOptions{})
			if m.Stale != 5 || m.Rewritten != test.rewritten || fmt.Sprint(m.Stored) != "[v1]" {
				t.Errorf("%+v", m)
			}
			b := openOver(t, backend, newShop(), registry.Config{DisableCache: true})
			if w := b.get("w002"); w.Spec.Color != "blue" || w.Spec.Size != 7 {
				t.Errorf("their change is lost: %+v", w)
			}
		})
	}
}

// A write of unknown outcome is looked at before anything else is done.
func TestMigrationUnknownOutcome(t *testing.T) {
	backend := openBackend(t)
	fillOld(t, backend, 3, nil)
	writes := 0
	lossy := &racing{Backend: backend, after: func() { writes++ }, fail: fmt.Errorf("etcd: %w",
		storage.ErrUnknownOutcome)}
	m := migrate(t, lossy, registry.New(shop.Definition()), nil, store.MigrateOptions{})
	if writes != 3 || fmt.Sprint(m.Stored) != "[v1]" {
		t.Errorf("%d writes, %+v", writes, m)
	}
}

// Interrupted, it has lost nothing; run again, it does the rest.
func TestMigrationIsResumed(t *testing.T) {
	backend := openBackend(t)
	fillOld(t, backend, 20, nil)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	writes := 0
	m, err := registry.Migrate(ctx, registry.New(shop.Definition()), registry.Config{
		Backend: &racing{Backend: backend, after: func() {
			if writes++; writes == 7 {
				interrupt()
			}
		}}, Prefix: "/registry",
	}, store.MigrateOptions{})
	if !errors.Is(err, context.Canceled) || m.Rewritten != 7 {
		t.Fatalf("%+v %v", m, err)
	}
	b := openOver(t, backend, registry.New(shop.Definition()), registry.Config{})
	if got := b.record(); got != `{"versions":["v1","v1beta1"]}` {
		t.Errorf("half done, the record is %s", got)
	}
	m = migrate(t, backend, registry.New(shop.Definition()), nil, store.MigrateOptions{})
	if m.Stale != 13 || m.Rewritten != 13 || m.Read != 20 || fmt.Sprint(m.Stored) != "[v1]" {
		t.Errorf("%+v", m)
	}
}

// Pages are all looked at, and reported.
func TestMigrationOfManyPages(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	for i := range 1201 {
		value := fmt.Sprintf(`{"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"name":"w%04d",`+
			`"namespace":"ns"},"spec":{}}`, i)
		if _, err := backend.Put(t.Context(), fmt.Sprintf("%sw%04d", widgetKey, i), []byte(value), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	var reports []string
	m := migrate(t, backend, registry.New(shop.Definition()), nil, store.MigrateOptions{Rate: 1e6,
		Report: func(m store.Migration) {
			if m.Rewritten != m.Read {
				t.Errorf("%d of %d are rewritten", m.Rewritten, m.Read)
			}
			if reports = append(reports, fmt.Sprintf("%d of %d", m.Read, m.Total)); len(reports) > 3 {
				reports = reports[1:]
			}
		}})
	// The default of spec.size is what they lack.
	if m.Rewritten != 1201 || strings.Join(reports, ", ") != "1199 of 1201, 1200 of 1201, 1201 of 1201" {
		t.Errorf("%+v %v", m, reports)
	}
}

// The rate holds back writes, and the wait for the next one ends with the context.
func TestMigrationRate(t *testing.T) {
	backend := openBackend(t)
	fillOld(t, backend, 3, nil)
	ctx, cancel := context.WithCancel(t.Context())
	slow := &racing{Backend: backend, after: cancel}
	m, err := registry.Migrate(ctx, registry.New(shop.Definition()), registry.Config{Backend: slow,
		Prefix: "/registry"},
		store.MigrateOptions{Rate: 0.001})
	if !errors.Is(err, context.Canceled) || m.Rewritten != 1 {
		t.Errorf("%+v %v", m, err)
	}
}

func TestMigrationOfAnotherResource(t *testing.T) {
	if _, err := registry.Migrate(t.Context(), foreign{}, registry.Config{}, store.MigrateOptions{}); err == nil ||
		!strings.Contains(err.Error(), "can't be migrated") {
		t.Error(err)
	}
}

type foreign struct{ registry.Resource }

func (foreign) Info() *verb.Info { return &verb.Info{} }

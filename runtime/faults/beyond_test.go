package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
)

// An etcd whose data is replaced by older data and that is written beyond what the server had seen, all before the
// server comes back to it: by its revisions it might be the old one. The server forgets what it has in memory all the
// same, be it that what it saw last is gone, or that something else happened meanwhile.
func TestRollbackBeyond(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		quiet bool // what the server saw behind the copy concerns no book
	}{{"busy", false}, {"quiet", true}} {
		t.Run(test.name, func(t *testing.T) {
			p := etcdtest.Start(t)
			wire := etcdtest.StartProxy(t, p.ClientPort())
			server := startReplica(t, "--etcd-servers=http://"+wire.Address(), "--etcd-compaction-interval=0")
			create := func(name string) {
				t.Helper()
				body := fmt.Sprintf(`{"apiVersion":"library.example.com/v1","kind":"Book","metadata":{"name":%q},`+
					`"spec":{"title":"before"}}`, name)
				code, answer, err := server.do(t.Context(), http.MethodPost, path, "application/json", []byte(body))
				if err != nil || code != http.StatusCreated {
					t.Fatalf("%d %s %v", code, answer, err)
				}
			}
			create("a")
			create("b")
			backup := backUp(t, p)
			server.await()
			if !test.quiet {
				create("c")
			}
			seen := pass(t, p, 10, nil)
			var have *listing
			wait(t, "the server's memory has all", func() (ok bool) {
				// makes it ask for progress
				if _, ok = fetch(t.Context(), server, true, func() int64 { return 0 }); ok {
					have, ok = fetch(t.Context(), server, false, func() int64 { return 0 })
				}
				return ok && have.revision >= seen
			})
			watching := follow(t, server, fmt.Sprintf("%s?watch=1&resourceVersion=%d", path, have.revision))

			wire.Cut()
			bringBack(t, p, backup)
			beyond := pass(t, p, have.revision+10, func(backend storage.Backend) {
				kv, _, err := backend.Get(t.Context(), keys+"a", storage.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				value := bytes.ReplaceAll(kv.Value, []byte(`"before"`), []byte(`"instead"`))
				if _, err := backend.Put(t.Context(), kv.Key, value, kv.Revision, 0); err != nil {
					t.Fatal(err)
				}
			})
			wire.Heal()
			e := watching()
			var s struct{ Code int }
			if err := json.Unmarshal(e.Object, &s); err != nil || e.Type != "ERROR" || s.Code != http.StatusGone {
				t.Errorf("the watcher was told %s %s %v, want ERROR 410", e.Type, e.Object, err)
			}
			server.await()
			for _, consistent := range []bool{true, false} {
				var found *listing
				wait(t, "a list is answered", func() (ok bool) {
					found, ok = fetch(t.Context(), server, consistent, func() int64 { return 0 })
					return ok
				})
				if len(found.items) != 2 || found.items["a"].title != "instead" || found.items["b"].title != "before" ||
					found.revision < beyond {
					t.Errorf("a list (consistent: %t) at revision %d has %v, and etcd is at %d", consistent,
						found.revision, found.items, beyond)
				}
			}
			// Who was not connected meanwhile knows as little.
			late := follow(t, server, fmt.Sprintf("%s?watch=1&resourceVersion=%d", path, have.revision))()
			if err := json.Unmarshal(late.Object, &s); err != nil || late.Type != "ERROR" || s.Code != http.StatusGone {
				t.Errorf("a watcher that comes back was told %s %s %v, want ERROR 410", late.Type, late.Object, err)
			}
			create("d")
			text, err := os.ReadFile(filepath.Join(server.dir, "log"))
			if err != nil || !strings.Contains(string(text), "the backend was rolled back") {
				t.Errorf("the log doesn't say that the backend was rolled back: %v", err)
			}
		})
	}
}

// pass writes what concerns nobody until etcd is beyond a revision, which is returned, after something else was done.
func pass(t *testing.T, p *etcdtest.Process, revision int64, first func(storage.Backend)) (reached int64) {
	t.Helper()
	backend, err := etcd.New(t.Context(), etcd.Config{Endpoints: []string{p.Endpoint()}, DialTimeout: startTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	if first != nil {
		first(backend)
	}
	for i := 0; reached < revision || i < 10; i++ {
		key := fmt.Sprintf("/other/%d", i)
		kv, _, err := backend.Get(t.Context(), key, storage.GetOptions{RevisionOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		var expect int64
		if kv != nil {
			expect = kv.Revision
		}
		if reached, err = backend.Put(t.Context(), key, nil, expect, 0); err != nil {
			t.Fatal(err)
		}
	}
	return reached
}

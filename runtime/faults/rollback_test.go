package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
)

// An etcd whose data is replaced by older data under a running server: the server forgets what it has in memory, says
// so, tells watchers that their history is gone, and serves what etcd holds.
func TestRollback(t *testing.T) {
	t.Parallel()
	p := etcdtest.Start(t)
	server := startReplica(t, "--etcd-servers="+p.Endpoint(), "--etcd-compaction-interval=0")
	write := func(method, name, title string, want int) version {
		t.Helper()
		url, body := path, fmt.Sprintf(`{"apiVersion":"library.example.com/v1","kind":"Book","metadata":{"name":%q},`+
			`"spec":{"title":%q}}`, name, title)
		if method != http.MethodPost {
			url += "/" + name
		}
		contentType := "application/json"
		switch method {
		case http.MethodPatch:
			contentType = "application/merge-patch+json"
		case http.MethodDelete:
			body = ""
		}
		code, answer, err := server.do(t.Context(), method, url, contentType, []byte(body))
		if err != nil || code != want {
			t.Fatalf("%s %s: %d %s %v, want %d", method, url, code, answer, err, want)
		}
		var b book
		if err := json.Unmarshal(answer, &b); err != nil {
			t.Fatal(err)
		}
		return versionOf(&b)
	}
	list := func(consistent bool) (found *listing) {
		t.Helper()
		wait(t, "a list is answered", func() (ok bool) {
			found, ok = fetch(t.Context(), server, consistent, func() int64 { return 0 })
			return ok
		})
		return found
	}
	old := map[string]version{"kept": write("POST", "kept", "kept", 201),
		"changed": write("POST", "changed", "before", 201), "removed": write("POST", "removed", "before", 201)}
	backup := backUp(t, p)
	server.await()
	from := list(true)
	watching := follow(t, server, fmt.Sprintf("%s?watch=1&resourceVersion=%d", path, from.revision))

	write("PATCH", "changed", "after", 200)
	write("DELETE", "removed", "", 200)
	var last version
	for i := range 20 {
		last = write("POST", fmt.Sprintf("new-%d", i), "new", 201)
	}
	for range 22 { // the watcher, and so the server's memory, has come to the end
		if e := watching(); e.Type == "ERROR" {
			t.Fatalf("%s %s", e.Type, e.Object)
		}
	}
	bringBack(t, p, backup)

	gone := watching()
	var s struct {
		Code            int
		Reason, Message string
	}
	if err := json.Unmarshal(gone.Object, &s); err != nil || gone.Type != "ERROR" || s.Code != http.StatusGone ||
		s.Reason != "Expired" {
		t.Errorf("the watcher was told %s %s %v, want ERROR 410 Expired", gone.Type, gone.Object, err)
	}
	server.await()
	if found := list(true); !maps.Equal(found.items, old) || found.revision >= last.revision {
		t.Errorf("at revision %d there is %v, want %v before %d", found.revision, found.items, old, last.revision)
	}
	if found := list(false); !maps.Equal(found.items, old) {
		t.Errorf("what is in memory is %v, want %v", found.items, old)
	}
	for _, name := range []string{"removed", "changed", "new-0"} {
		for _, query := range []string{"", "?resourceVersion=0"} {
			code, answer, err := server.do(t.Context(), http.MethodGet, path+"/"+name+query, "", nil)
			var b book
			if want, there := old[name]; err != nil || there != (code == http.StatusOK) {
				t.Errorf("%s%s: %d %v", name, query, code, err)
			} else if there && (json.Unmarshal(answer, &b) != nil || versionOf(&b) != want) {
				t.Errorf("%s%s: %s, want %v", name, query, answer, want)
			}
		}
	}
	// Who was not connected meanwhile, and knows of a revision that has not come again, must begin anew, too.
	late := follow(t, server, fmt.Sprintf("%s?watch=1&resourceVersion=%d", path, last.revision))()
	if err := json.Unmarshal(late.Object, &s); err != nil || late.Type != "ERROR" || s.Code != http.StatusGone {
		t.Errorf("a watcher that comes back was told %s %s %v, want ERROR 410", late.Type, late.Object, err)
	}
	watching = follow(t, server, fmt.Sprintf("%s?watch=1&resourceVersion=%d", path, list(true).revision))
	old["changed"] = write("PATCH", "changed", "again", 200)
	delete(old, "removed")
	write("DELETE", "removed", "", 200)
	for _, want := range []string{"MODIFIED", "DELETED"} {
		if e := watching(); e.Type != want {
			t.Errorf("a new watcher was told %s %s, want %s", e.Type, e.Object, want)
		}
	}
	if found := list(true); !maps.Equal(found.items, old) {
		t.Errorf("after more writes there is %v, want %v", found.items, old)
	}
	holds(t, p, slices.Sorted(maps.Keys(old)))
	text, err := os.ReadFile(filepath.Join(server.dir, "log"))
	if err != nil || !strings.Contains(string(text), "the backend was rolled back") {
		t.Errorf("the log doesn't say that the backend was rolled back: %v", err)
	}
	if server.ended() {
		t.Error("the server has ended")
	}
}

// backUp copies the data of an etcd, which is away meanwhile.
func backUp(t *testing.T, p *etcdtest.Process) (backup string) {
	t.Helper()
	backup = filepath.Join(t.TempDir(), "backup")
	p.Kill()
	if err := os.CopyFS(backup, os.DirFS(p.Directory())); err != nil {
		t.Fatal(err)
	}
	p.Restart()
	return backup
}

// bringBack replaces the data of an etcd by what it was.
func bringBack(t *testing.T, p *etcdtest.Process, backup string) {
	t.Helper()
	p.Kill()
	if err := os.RemoveAll(p.Directory()); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(p.Directory(), os.DirFS(backup)); err != nil {
		t.Fatal(err)
	}
	p.Restart()
}

// told is one event as it comes.
type told struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// follow watches, and returns what waits for the next event.
func follow(t *testing.T, server *replica, url string) func() told {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.url+url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.watcher.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("a watch: %v %v", response, err)
	}
	t.Cleanup(func() { response.Body.Close() })
	decoder := json.NewDecoder(response.Body)
	return func() (e told) {
		t.Helper()
		late := time.AfterFunc(startTimeout, func() { response.Body.Close() })
		defer late.Stop()
		if err := decoder.Decode(&e); err != nil {
			t.Fatalf("the watch ended without a word: %v", err)
		}
		return e
	}
}

// holds checks what books etcd itself has.
func holds(t *testing.T, p *etcdtest.Process, want []string) {
	t.Helper()
	backend, err := etcd.New(t.Context(), etcd.Config{Endpoints: []string{p.Endpoint()}, DialTimeout: startTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	found, err := backend.Range(t.Context(), storage.RangeRequest{Prefix: keys})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, item := range found.Items {
		names = append(names, strings.TrimPrefix(item.Key, keys))
	}
	if !slices.Equal(names, want) {
		t.Errorf("etcd holds %v, want %v", names, want)
	}
}

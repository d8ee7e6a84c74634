package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/storage/embedded"
)

// A server with an etcd inside is killed again and again: what its log says afterwards is what everybody was told.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	server := startReplica(t, "--request-timeout=1500ms", "--etcd-compaction-interval=0")
	r := &run{
		load: crowded(t),
		t:    t, random: rand.New(rand.NewPCG(seed, 0)), replicas: []*replica{server},
		progress: &progress{tick: make(chan struct{}, 1)}, begin: time.Now(),
	}
	kill := func(r *run) {
		server.kill()
		r.await(10, failed)
		server.restart()
	}
	halt := func(*run) {
		server.stop()
		r.await(6, failed)
		server.resume()
	}
	stopClients, all := r.work([]trouble{{"kill the server", kill}, {"kill the server", kill},
		{"halt the server", halt}})
	stopClients()
	all.stopWatching()
	server.kill()
	backend, err := embedded.Open(t.Context(), server.home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	r.backend = backend
	r.truth = observeFrom(t, backend, 1)
	r.check(all)
}

// The quota of the embedded etcd is used up: writes are answered 507, reads and deletions go on, and a defragmentation
// by the running server makes it take writes again.
func TestNoSpace(t *testing.T) {
	t.Parallel()
	server := startReplica(t, "--quota-backend-bytes=8388608", "--request-timeout="+startTimeout.String())
	post := func(i int) (int, string) {
		body := fmt.Sprintf(`{"apiVersion":"library.example.com/v1","kind":"Book","metadata":{"name":"big-%d",`+
			`"annotations":{"x":"%s"}},"spec":{"title":"x"}}`,
			i, strings.Repeat("x", 200<<10))
		code, answer, err := server.do(t.Context(), http.MethodPost, path, "application/json", []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return code, string(answer)
	}
	written := 0
	code, answer := post(written)
	// 504 is for a write that was on its way when the space ran out: it was done.
	for ; (code == http.StatusCreated || code == http.StatusGatewayTimeout) &&
		written < 100; code, answer = post(written) {
		written++
	}
	var status struct {
		Code    int
		Reason  string
		Details map[string]any
	}
	if err := json.Unmarshal([]byte(answer), &status); err != nil || status.Code != http.StatusInsufficientStorage ||
		status.Reason != "InsufficientStorage" {
		t.Fatalf("after %d writes: %d %.300s", written, code, answer)
	}
	if _, hint := status.Details["retryAfterSeconds"]; hint {
		t.Errorf("a hint to retry: %v", status.Details)
	}
	expect := func(method, url string, code int, want string) {
		t.Helper()
		got, answer, err := server.do(t.Context(), method, url, "", nil)
		if err != nil || got != code || !strings.Contains(string(answer), want) {
			t.Fatalf("%s %s: %d, %v, want %d: %.300s", method, url, got, err, code, answer)
		}
	}
	expect(http.MethodGet, fmt.Sprintf("%s/big-%d", path, written), http.StatusNotFound, "NotFound")
	expect(http.MethodGet, path+"/big-0", http.StatusOK, "big-0")
	expect(http.MethodGet, path+"?resourceVersion=0", http.StatusOK, "big-0")
	expect(http.MethodGet, "/readyz", http.StatusInternalServerError, "[-]storage-space failed: alarm NOSPACE: ")
	for i := range written {
		expect(http.MethodDelete, fmt.Sprintf("%s/big-%d", path, i), http.StatusOK, "")
	}
	if code, answer := post(0); code != http.StatusInsufficientStorage {
		t.Errorf("before the defragmentation: %d %.300s", code, answer)
	}
	if out, err := server.program("storage", "defrag"); err != nil || strings.Contains(out, "alarm") {
		t.Fatalf("storage defrag: %v\n%s", err, out)
	}
	expect(http.MethodGet, "/readyz", http.StatusOK, "ok")
	if code, answer := post(0); code != http.StatusCreated {
		t.Errorf("after the defragmentation: %d %.300s", code, answer)
	}
}

// What a restore brings back is what clients see, and a client that remembers what came after the snapshot is told that
// it is gone, instead of being told nothing.
func TestRestore(t *testing.T) {
	t.Parallel()
	server := startReplica(t, "--request-timeout="+startTimeout.String())
	c := newClient(0, seed, []*replica{server}, time.Now(), &progress{tick: make(chan struct{}, 1)})
	c.patience = startTimeout
	write := func(name string) {
		o := &operation{kind: create, name: name, title: name, genre: "Fiction"}
		if c.carryOut(server, o); o.code != http.StatusCreated {
			t.Fatal(o)
		}
	}
	write("kept")
	file := server.dir + "/snapshot"
	if out, err := server.program("storage", "snapshot", file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	write("lost")
	before, ok := fetch(t.Context(), server, true, c.now)
	if !ok || len(before.items) != 2 {
		t.Fatalf("before: %+v", before)
	}
	server.kill()

	restored := &replica{t: t, binary: server.binary, arguments: []string{"--data-dir=" + t.TempDir() + "/data"}}
	if out, err := restored.program("storage", "restore", file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server.arguments[0] = restored.arguments[0]
	server.client, server.home = nil, strings.TrimPrefix(restored.arguments[0], "--data-dir=")
	server.restart()
	after, ok := fetch(t.Context(), server, true, c.now)
	if !ok || len(after.items) != 1 || after.items["kept"] != before.items["kept"] ||
		after.revision <= before.revision {
		t.Fatalf("after: %+v, before: %+v", after, before)
	}
	w := &watcher{now: c.now, random: rand.New(rand.NewPCG(seed, 0)), replicas: []*replica{server}}
	w.segments = []*segment{{after: before.revision, until: before.revision}}
	// each has a few seconds
	for tries := 0; tries < 20 && len(w.segments) == 1 && len(w.segments[0].events) == 0; tries++ {
		w.resume(t.Context(), server)
	}
	if len(w.segments) != 2 || w.segments[1] != nil || len(w.segments[0].events) > 0 {
		t.Errorf("a watch from before went on: %+v, %v", w.segments[0], w.problem)
	}
}

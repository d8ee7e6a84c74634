package etcd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
)

// A member that ends forgets who has logged in, as etcd's tokens are by default. A user goes on all the same: its
// writes are made once, its watch loses nothing, and it has no more rights than before.
func TestUserOutlivesMembers(t *testing.T) {
	t.Parallel()
	cluster, ctx := etcdtest.StartCluster(t, 3), patience(t)
	cluster.Authenticate(t, "apigen", "secret", "/watched/")
	files := cluster.Certificates
	backend, err := etcd.New(ctx, etcd.Config{Endpoints: cluster.Endpoints(), CAFile: files.CAFile,
		CertFile: files.CertFile, KeyFile: files.KeyFile,
		Username: "apigen", Password: "secret", Prefix: "/watched/", DialTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	start, err := backend.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		seen []int64
		err  error
	}
	const writes = 20
	var leader *etcdtest.Process
	stages := []func(){
		func() {},
		func() { leader = cluster.Leader(); leader.Kill() },
		func() { leader.Restart() },
		cluster.Restart,
	}
	followed := make(chan result, 1)
	go func() {
		seen, err := follow(ctx, backend, start, start+int64(writes*len(stages)))
		followed <- result{seen, err}
	}()
	written := map[string]int64{}
	var revisions []int64
	for stage, begin := range stages {
		begin()
		for i := range writes {
			key := fmt.Sprintf("/watched/%d-%d", stage, i)
			revision, err := putSurely(ctx, backend, key)
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			written[key], revisions = revision, append(revisions, revision)
		}
	}
	if r := <-followed; r.err != nil || fmt.Sprint(r.seen) != fmt.Sprint(revisions) {
		t.Errorf("%v\nseen    %v\nwritten %v", r.err, r.seen, revisions)
	}
	for key, revision := range written {
		if kv, _, err := backend.Get(ctx, key, storage.GetOptions{}); err != nil || kv == nil ||
			kv.Revision != revision {
			t.Errorf("%s: %+v, %v, written at %d", key, kv, err, revision)
		}
	}
	if _, err := backend.Put(ctx, "/other", nil, 0, 0); err == nil ||
		!strings.Contains(err.Error(), "permission denied") {
		t.Errorf("a write outside of the prefix: got %v", err)
	}
}

package etcd_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
	"apigen.dev/runtime/storage/etcd/etcdtest"
)

// withUser turns the authentication of a cluster on, with a user that may read and write the keys of a prefix.
func withUser(ctx context.Context, t *testing.T, c *etcdtest.Cluster, prefix string) etcd.Config {
	t.Helper()
	files := c.Certificates
	info := transport.TLSInfo{TrustedCAFile: files.CAFile, CertFile: files.CertFile, KeyFile: files.KeyFile}
	tls, err := info.ClientConfig()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(nil, err)
	client, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints(), TLS: tls, Logger: zap.NewNop()})
	must(nil, err)
	defer client.Close()
	must(client.UserAdd(ctx, "root", "secret"))
	must(client.UserGrantRole(ctx, "root", "root"))
	must(client.UserAdd(ctx, "apigen", "secret"))
	must(client.RoleAdd(ctx, "apigen"))
	must(client.RoleGrantPermission(ctx, "apigen", prefix, clientv3.GetPrefixRangeEnd(prefix), clientv3.PermissionType(clientv3.PermReadWrite)))
	must(client.UserGrantRole(ctx, "apigen", "apigen"))
	must(client.AuthEnable(ctx))
	return etcd.Config{Endpoints: c.Endpoints(), CAFile: files.CAFile, CertFile: files.CertFile, KeyFile: files.KeyFile,
		Username: "apigen", Password: "secret", Prefix: prefix}
}

// A member that ends forgets who has logged in, as etcd's tokens are by default. A user goes on all the same: its writes
// are made once, its watch loses nothing, and it has no more rights than before.
func TestUserOutlivesMembers(t *testing.T) {
	cluster, ctx := etcdtest.StartCluster(t, 3), patience(t)
	backend, err := etcd.New(ctx, withUser(ctx, t, cluster, "/watched/"))
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
		if kv, _, err := backend.Get(ctx, key, storage.GetOptions{}); err != nil || kv == nil || kv.Revision != revision {
			t.Errorf("%s: %+v, %v, written at %d", key, kv, err, revision)
		}
	}
	if _, err := backend.Put(ctx, "/other", nil, 0, 0); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("a write outside of the prefix: got %v", err)
	}
}

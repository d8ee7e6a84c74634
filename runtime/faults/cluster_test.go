package faults

import (
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage/etcd"
)

// Three members with TLS, client certificates and authentication: the leader is killed, and halted, and all of them are
// killed. The servers are a user who may use their prefix and nothing else.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := etcdtest.StartCluster(t, 3)
	c.Authenticate(t, "apigen", "", "/registry/")
	files := c.Certificates.User(t, "apigen")
	config := etcd.Config{Endpoints: c.Endpoints(), CAFile: files.CAFile, CertFile: files.CertFile,
		KeyFile: files.KeyFile, Prefix: "/registry/"}
	stranger, err := etcd.New(t.Context(), etcd.Config{
		Endpoints: c.Endpoints(), CAFile: c.Certificates.CAFile, CertFile: c.Certificates.CertFile,
		KeyFile: c.Certificates.KeyFile})
	if err == nil { // its version may be told to anybody
		if _, err = stranger.Revision(t.Context()); err == nil {
			t.Error("etcd serves whoever is no user")
		}
		_ = stranger.Close()
	}
	r := newRunWith(t, config, []string{"--etcd-compaction-interval=0"}) // etcd lets root alone compact
	root := c.Certificates.User(t, "root")
	config.CertFile, config.KeyFile, config.DialTimeout = root.CertFile, root.KeyFile, startTimeout
	if r.backend, err = etcd.New(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.backend.Close() })
	r.under(
		trouble{"kill the leader", func(r *run) { killEtcd(c.Leader(), 100, ended)(r) }},
		trouble{"kill all members", func(r *run) {
			for _, p := range c.Members {
				p.Kill()
			}
			r.await(8, failed)
			c.Restart()
		}},
		trouble{"compact", compact},
		trouble{"part the members", func(r *run) {
			c.Cut()
			r.await(6, failed)
			c.Heal()
		}},
		trouble{"halt the leader", func(r *run) { haltEtcd(c.Leader())(r) }},
		trouble{"kill a server", killServers},
		trouble{"halt a member", func(r *run) { haltEtcd(c.Members[r.random.IntN(3)])(r) }})
}

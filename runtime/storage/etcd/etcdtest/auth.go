package etcdtest

import (
	"context"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Authenticate turns the cluster's authentication on, with a user who may read and write the keys below a prefix and
// nothing else, beside root. Where password is "", the user is known by a certificate with that common name.
func (c *Cluster) Authenticate(t testing.TB, user, password, prefix string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	client := c.client(t)
	defer client.Close()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("turning on etcd's authentication: %v", err)
		}
	}
	must(client.UserAdd(ctx, "root", "secret"))
	must(client.UserGrantRole(ctx, "root", "root"))
	must(client.UserAddWithOptions(ctx, user, password, &clientv3.UserAddOptions{NoPassword: password == ""}))
	must(client.RoleAdd(ctx, user))
	must(client.RoleGrantPermission(ctx, user, prefix, clientv3.GetPrefixRangeEnd(prefix), clientv3.PermissionType(clientv3.PermReadWrite)))
	must(client.UserGrantRole(ctx, user, user))
	must(client.AuthEnable(ctx))
}

// client is one of no user.
func (c *Cluster) client(t testing.TB) *clientv3.Client {
	t.Helper()
	info := transport.TLSInfo{TrustedCAFile: c.Certificates.CAFile, CertFile: c.Certificates.CertFile, KeyFile: c.Certificates.KeyFile}
	config, err := info.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints(), TLS: config, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

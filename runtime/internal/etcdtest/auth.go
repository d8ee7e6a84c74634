package etcdtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Authenticate turns the cluster's authentication on. Beside root there is a user who may read and write the keys below
// a prefix and nothing else. Where password is "", the user authenticates with a certificate that has the user as its
// common name.
func (c *Cluster) Authenticate(t testing.TB, user, password, prefix string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	client := c.client(t)
	defer client.Close()
	for _, step := range []func() (any, error){
		func() (any, error) { return client.UserAdd(ctx, "root", "secret") },
		func() (any, error) { return client.UserGrantRole(ctx, "root", "root") },
		func() (any, error) {
			return client.UserAddWithOptions(ctx, user, password, &clientv3.UserAddOptions{NoPassword: password == ""})
		},
		func() (any, error) { return client.RoleAdd(ctx, user) },
		func() (any, error) {
			return client.RoleGrantPermission(ctx, user, prefix, clientv3.GetPrefixRangeEnd(prefix),
				clientv3.PermissionType(clientv3.PermReadWrite))
		},
		func() (any, error) { return client.UserGrantRole(ctx, user, user) },
		func() (any, error) { return client.AuthEnable(ctx) },
	} {
		if err := insist(ctx, step); err != nil {
			t.Fatalf("turning on etcd's authentication: %v", err)
		}
	}
}

// insist repeats a step until it succeeds: members on a busy machine often elect a leader, and fail the calls that are
// under way. Where something exists already, an earlier attempt has made it and its answer was lost.
func insist(ctx context.Context, step func() (any, error)) error {
	for {
		_, err := step()
		if err == nil || errors.Is(err, rpctypes.ErrUserAlreadyExist) || errors.Is(err, rpctypes.ErrRoleAlreadyExist) {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

func (c *Cluster) client(t testing.TB) *clientv3.Client {
	t.Helper()
	info := transport.TLSInfo{TrustedCAFile: c.Certificates.CAFile, CertFile: c.Certificates.CertFile,
		KeyFile: c.Certificates.KeyFile}
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

package etcdtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Cluster is an etcd of several members that speak TLS and accept only clients with a certificate.
type Cluster struct {
	Members      []*Process
	Certificates Certificates
	t            testing.TB
}

// StartCluster runs n members on empty directories, waits until all serve, and ends them with the test.
func StartCluster(t testing.TB, n int) *Cluster {
	t.Helper()
	c := &Cluster{t: t, Certificates: newCertificates(t)}
	var names []string
	for i := range n {
		p := &Process{
			t: t, name: fmt.Sprintf("m%d", i), dir: t.TempDir(), certificates: &c.Certificates,
			clientPort: FreePort(t), peerPort: FreePort(t), metricsPort: FreePort(t),
		}
		p.peerProxy = StartProxy(t, p.peerPort)
		names = append(names, p.name+"="+p.advertisedURL())
		c.Members = append(c.Members, p)
		t.Cleanup(p.Kill)
	}
	for _, p := range c.Members {
		p.cluster = strings.Join(names, ",")
	}
	c.Restart()
	return c
}

// Endpoints returns the URLs for clients.
func (c *Cluster) Endpoints() (urls []string) {
	for _, p := range c.Members {
		urls = append(urls, p.Endpoint())
	}
	return urls
}

// Restart kills the members that still run, starts all members, and waits until they serve.
func (c *Cluster) Restart() {
	c.t.Helper()
	if err := start(c.Members...); err != nil {
		c.t.Fatalf("etcd does not start: %v", err)
	}
}

// Cut separates the members from each other; their clients still reach all of them.
func (c *Cluster) Cut() {
	for _, p := range c.Members {
		p.peerProxy.Cut()
	}
}

// Heal undoes Cut.
func (c *Cluster) Heal() {
	for _, p := range c.Members {
		p.peerProxy.Heal()
	}
}

// Leader returns the leader, and waits until there is one.
func (c *Cluster) Leader() *Process {
	c.t.Helper()
	client := c.client(c.t)
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		for _, p := range c.Members {
			asking, stop := context.WithTimeout(ctx, time.Second)
			status, err := client.Status(asking, p.Endpoint())
			stop()
			if err == nil && status.Leader != 0 && status.Leader == status.Header.MemberId {
				return p
			}
		}
		select {
		case <-ctx.Done():
			c.t.Fatalf("etcd has no leader after %s", startTimeout)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

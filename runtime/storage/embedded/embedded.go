// Package embedded is a backend that runs a real etcd inside the process, on a data directory: one binary is a whole
// server, and acknowledged writes are on disk.
//
// It knows storage, the etcd backend and etcd's server. The client is that of package etcd, on the same code path as
// with a cluster, but it calls the server's functions directly (etcdserver/api/v3client). etcd listens on no port and
// on no socket, so no other user of the machine can reach it, and nothing needs a free port or a certificate.
package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

// Etcd is the embedded etcd as a storage.Embedded. A main passes it to its server.
type Etcd struct{}

var _ storage.Embedded = Etcd{}

// Open is the method Open of Etcd with the default options.
func Open(ctx context.Context, dir string) (storage.Backend, error) {
	return Etcd{}.Open(ctx, dir, storage.EmbeddedOptions{})
}

// Open starts an etcd of one member on dir, which it creates for this user alone, and waits until etcd serves. It fails
// at once where another process has the directory. Close stops etcd; acknowledged writes survive a crash, too. Open
// clears an alarm for space where the database is smaller than its quota.
//
// etcd's own compaction is off: the owner of the backend compacts.
func (Etcd) Open(ctx context.Context, dir string, options storage.EmbeddedOptions) (storage.Backend, error) {
	if options.Existing {
		if _, err := os.Stat(filepath.Join(dir, "etcd", "member")); err != nil {
			return nil, fmt.Errorf("data directory %s: %w: %w", dir, storage.ErrNoData, err)
		}
	}
	lock, err := take(dir)
	if err != nil {
		return nil, err
	}
	if err := sweep(filepath.Join(dir, "etcd")); err != nil {
		return nil, errors.Join(fmt.Errorf("data directory %s: %w", dir, err), lock.Close())
	}
	server, err := start(ctx, dir, filepath.Join(dir, "etcd"), cmp.Or(options.Quota, storage.DefaultQuota))
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	b := &backend{Backend: etcd.FromClient(v3client.New(server.Server)), server: server, lock: lock}
	if err := b.disarm(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("starting etcd in %s: %w", dir, err), b.Close())
	}
	return b, nil
}

type backend struct {
	storage.Backend
	server *embed.Etcd
	lock   *claim

	once sync.Once
	err  error
}

// Close may be called more than once.
func (b *backend) Close() error {
	b.once.Do(func() {
		err := b.Backend.Close()
		b.server.Close()
		b.err = errors.Join(err, b.lock.Close())
	})
	return b.err
}

// sweep removes copies of the database that killed defragmentations left, which etcd doesn't remove. The caller holds
// the lock, so no defragmentation is under way.
func sweep(data string) error {
	snap := filepath.Join(data, "member", "snap")
	files, err := os.ReadDir(snap)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, file := range files {
		if strings.HasPrefix(file.Name(), "db.tmp.") {
			err = errors.Join(err, os.Remove(filepath.Join(snap, file.Name())))
		}
	}
	return err
}

// start returns a server that serves requests, on the files in data. Errors name dir.
func start(ctx context.Context, dir, data string, quota int64) (*embed.Etcd, error) {
	starting := &startup{failed: make(chan error, 1)}
	server, err := starting.start(ctx, configuration(data, quota, starting))
	if err == nil {
		select {
		case <-server.Server.ReadyNotify():
			starting.done.Store(true)
			return server, nil
		case <-ctx.Done():
			err = ctx.Err()
		case <-server.Server.StopNotify():
			err = errors.New("it stopped")
		case err = <-starting.failed:
			go server.Close() // a failed start may hold a lock for which Close waits
			return nil, fmt.Errorf("starting etcd in %s: %w", dir, err)
		}
		server.Close()
	}
	return nil, fmt.Errorf("starting etcd in %s: %w", dir, err)
}

func configuration(data string, quota int64, starting *startup) *embed.Config {
	config := embed.NewConfig()
	config.Name = "apigen"
	config.Dir = data
	config.ListenClientUrls, config.ListenPeerUrls = nil, nil
	config.AdvertiseClientUrls = nil
	// A member needs an address for its peers. This one has no peers, and nothing listens here.
	config.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "localhost:2380"}}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	// A single member elects itself when the election timeout has passed. A short one makes a quick start.
	config.TickMs, config.ElectionMs = 20, 100
	config.QuotaBackendBytes = quota
	config.AutoCompactionMode, config.AutoCompactionRetention = embed.CompactorModePeriodic, "0" // off
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger(starting))
	return config
}

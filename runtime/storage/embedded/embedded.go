// Package embedded is a backend that runs a real etcd inside the process, on a data directory: one binary is a whole
// server, and what it has acknowledged is on disk.
//
// It knows storage, the etcd backend and etcd's server. The client is that of package etcd, the same code path as with a
// cluster, but it calls the server's functions directly (etcdserver/api/v3client): etcd listens on no port and on no
// socket, so no other user of the machine can reach it, and nothing needs a free port or a certificate.
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

// Etcd is the embedded etcd as a storage.Embedded: what a main gives its server.
type Etcd struct{}

var _ storage.Embedded = Etcd{}

// Open is Etcd's, with the default options.
func Open(ctx context.Context, dir string) (storage.Backend, error) {
	return Etcd{}.Open(ctx, dir, storage.EmbeddedOptions{})
}

// Open starts an etcd of one member on dir, which it creates for this user alone, and waits until it serves. It fails at
// once where another process has the directory. Close stops etcd; what was acknowledged survives a crash, too. Where the
// database is smaller than its quota, an alarm from a time when it was not is lowered.
//
// etcd's own compaction is off: who keeps the history decides what of it goes.
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

// sweep removes the copies of the database that defragmentations left which were killed: etcd doesn't. Who calls it has
// the lock, so none is under way.
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

// start returns a server that takes requests, on the files in data. Errors name dir.
func start(ctx context.Context, dir, data string, quota int64) (*embed.Etcd, error) {
	starting := newBirth()
	server, err := starting.start(ctx, configuration(data, quota, starting))
	if err == nil {
		select {
		case <-server.Server.ReadyNotify():
			starting.end()
			return server, nil
		case <-ctx.Done():
			err = ctx.Err()
		case <-server.Server.StopNotify():
			err = errors.New("it stopped")
		case err = <-starting.failed:
			go server.Close() // what failed may have left a lock held that this waits for
			return nil, fmt.Errorf("starting etcd in %s: %w", dir, err)
		}
		server.Close()
	}
	return nil, fmt.Errorf("starting etcd in %s: %w", dir, err)
}

func configuration(data string, quota int64, starting *birth) *embed.Config {
	config := embed.NewConfig()
	config.Name = "apigen"
	config.Dir = data
	config.ListenClientUrls, config.ListenPeerUrls = nil, nil
	config.AdvertiseClientUrls = nil
	// A member needs an address for its peers. It has none, and nobody listens here.
	config.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "localhost:2380"}}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	// One member elects itself when the election timeout has passed: a short one is a quick start.
	config.TickMs, config.ElectionMs = 20, 100
	config.QuotaBackendBytes = quota
	config.AutoCompactionMode, config.AutoCompactionRetention = embed.CompactorModePeriodic, "0" // off
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger(starting))
	return config
}

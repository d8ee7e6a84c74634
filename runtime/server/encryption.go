package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"apigen.dev/runtime/internal/host/encryption"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/registry"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// encryptionPoll is the interval of --encryption-provider-config-automatic-reload. It is kube-apiserver's.
const encryptionPoll = time.Minute

// loadEncryption reads --encryption-provider-config. Without it, values are stored unencrypted.
func loadEncryption(f flags) (*encryption.Source, error) {
	source, err := encryption.Load(f.encryptionConfig)
	if err != nil {
		return nil, fmt.Errorf("--encryption-provider-config: %w", err)
	}
	return source, nil
}

func transformers(source *encryption.Source) func(schema.GroupResource) store.Transformer {
	return func(gr schema.GroupResource) store.Transformer { return source.For(gr) }
}

// followEncryption warns about rules for resources that the server doesn't have. If the flags ask for it, it reads the
// file again every minute until stop is called. stop waits until the reading has ended.
func followEncryption(
	ctx context.Context, f flags, source *encryption.Source, groups []registry.Group, log *slog.Logger,
) (stop func()) {
	var resources []schema.GroupResource
	for _, group := range groups {
		for _, resource := range group.Resources {
			resources = append(resources, resource.Info().GroupResource())
		}
	}
	warn := func(keys *encryption.Keys) {
		for _, rule := range keys.Unused(resources) {
			log.Warn("the encryption configuration names a resource that this server does not have", "resource", rule)
		}
	}
	warn(source.Keys())
	if !f.encryptionReload {
		return func() {}
	}
	return repeat(ctx, encryptionPoll, func(ctx context.Context, ticks <-chan time.Time) {
		source.Follow(ctx, ticks, log, warn)
	})
}

// repeat runs follow with ticks of an interval until stop is called. stop waits until follow has ended.
func repeat(
	ctx context.Context, interval time.Duration, follow func(ctx context.Context, ticks <-chan time.Time),
) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ticker := time.NewTicker(interval)
	var following sync.WaitGroup
	following.Go(func() { follow(ctx, ticker.C) })
	return func() {
		cancel()
		ticker.Stop()
		following.Wait()
	}
}

package registry

import (
	"context"
	"errors"
	"fmt"

	"apigen.dev/runtime/store"
)

// migratable is a Resource that New made.
type migratable interface {
	migrate(ctx context.Context, config Config, opts store.MigrateOptions) (store.Migration, error)
}

// Migrate rewrites every stale object of a resource, which is one that a write of today would store differently, and
// removes the versions that are no longer stored from the record of versions. It may run beside servers: each write is
// a compare-and-swap of the same object, without hooks; generation and time to live stay. Migrate counts corrupt
// objects and leaves them alone. It may end at any time, with ctx or an error, and run again.
//
// Migrate removes a version from the record where it found no object in it. A server that still writes that version
// records it again with its first write after a minute, so migrate once all servers have the new storage version.
func Migrate(
	ctx context.Context, resource Resource, config Config, opts store.MigrateOptions,
) (store.Migration, error) {
	m, ok := resource.(migratable)
	if !ok {
		return store.Migration{}, fmt.Errorf("%s was not made by registry.New: it can't be migrated",
			resource.Info().GroupResource())
	}
	return m.migrate(ctx, config, opts)
}

func (r *resource[T]) migrate(ctx context.Context, config Config, opts store.MigrateOptions) (store.Migration, error) {
	name := r.info.GroupResource()
	all, err := checkDefinition(r.definition)
	if err != nil {
		return store.Migration{}, fmt.Errorf("the definition of %s: %w", name, err)
	}
	config.DisableCache = true
	stored := store.NewStoredVersions(config.Backend, config.Prefix, name, r.definition.Storage)
	opened, err := r.store(config, all, stored)
	if err != nil {
		return store.Migration{}, fmt.Errorf("opening %s: %w", name, err)
	}
	done, err := opened.Migrate(ctx, stored, opts)
	return done, errors.Join(err, opened.Close())
}

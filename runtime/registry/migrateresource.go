package registry

import (
	"context"
	"errors"
	"fmt"

	"apigen.dev/runtime/store"
)

// migratable is what New returns.
type migratable interface {
	migrate(ctx context.Context, config Config, opts store.MigrateOptions) (store.Migration, error)
}

// Migrate writes every object of a resource again that is not stored as it would be today, and takes the versions that
// are no longer stored off the record. It runs beside servers: a write is a compare-and-swap, without hooks, of the
// same object, whose generation stays. Objects that can't be read are counted and left alone. It may end at any time,
// with ctx or an error, and be run again: what is still stale is all there is to know.
//
// A version goes off the record if no object was found in it. Servers that still write it record it again
// with their first write after a minute: migrate once all of them have the release whose storage version is wanted.
// What is left of a time to live stays what it is.
func Migrate(
	ctx context.Context, resource Resource, config Config, opts store.MigrateOptions,
) (store.Migration, error) {
	m, ok := resource.(migratable)
	if !ok {
		return store.Migration{}, fmt.Errorf("%s was not made by registry.New: it can't be migrated", resource.Info().GroupResource())
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

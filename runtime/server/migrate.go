package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const migrateLong = `Rewrite every object that is stored in an older version, with older defaults,
encrypted with an older key, or in another media type than --storage-media-type. Apart from that, only the
resourceVersion of an object changes. The command keeps no state: you can stop it at any time and run it again.

It can run beside servers on the same etcd. A server with the embedded etcd must be stopped first.
Run the command when all servers have the new release, the new first key or the new media type. Start a
release that cannot read an older version after that.`

// progressEvery is the interval of the lines that report the progress of a migration.
const progressEvery = 2 * time.Second

// storageFlags are the flags of the server about where and how objects are stored.
var storageFlags = []string{
	"etcd-servers", "etcd-prefix", "etcd-cafile", "etcd-certfile", "etcd-keyfile", "data-dir",
	"storage-media-type", "encryption-provider-config", "request-timeout",
}

func migrateCommand(program Program) *cobra.Command {
	var f flags
	var options store.MigrateOptions
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Rewrite objects that are stored in an older version or with an older key",
		Long:  migrateLong,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(program.Embedded != nil); err != nil {
				return err
			}
			if options.Rate < 0 {
				return fmt.Errorf("--rate: %g must not be negative", options.Rate)
			}
			options.Timeout = f.server.RequestTimeout
			return migrate(cmd.Context(), program, f, options, cmd.OutOrStdout())
		},
	}
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.add(all, program.Embedded != nil)
	for _, name := range storageFlags {
		command.Flags().AddFlag(all.Lookup(name))
	}
	for _, feature := range program.Features {
		if finder, ok := feature.(finder); ok {
			finder.AddFlags(command.Flags())
		}
	}
	command.Flags().Lookup("request-timeout").Usage = "how long one read or write of storage may take"
	command.Flags().BoolVar(&options.DryRun, "dry-run", false, "count stale objects, and write nothing")
	command.Flags().Float64Var(&options.Rate, "rate", 200,
		"how many objects are written in a second, at most; 0 means no bound")
	return command
}

// finder is implemented by features that find services. The migrate command has their flags, too, because webhooks that
// are services may convert objects.
type finder interface {
	Feature
	// Find returns how services are found: as the flags of the feature say, and otherwise by services, which may be
	// nil.
	Find(services Services) (Services, error)
}

// findServices returns how the program and its features find services.
func (p Program) findServices() (Services, error) {
	services := p.Services
	for _, feature := range p.Features {
		if finder, ok := feature.(finder); ok {
			var err error
			if services, err = finder.Find(services); err != nil {
				return nil, err
			}
		}
	}
	return services, nil
}

// Migrating is implemented by features with stored resources beside those of their groups: custom resources.
type Migrating interface {
	// Migrate migrates these resources by m, one after the other. It goes on where objects can't be read.
	Migrate(ctx context.Context, m Migrator) error
}

// Migrator is what `<server> migrate` has for features.
type Migrator struct {
	// Config returns the configuration with which a resource is opened. Nothing else serves it in the process.
	Config func(resource registry.Resource) registry.Config
	// Resource migrates one resource, and prints the result.
	Resource func(ctx context.Context, resource registry.Resource) (store.Migration, error)
	// Services finds the services of webhooks, as the flags of features say, too.
	Services Services
	DryRun   bool
}

func migrate(ctx context.Context, program Program, f flags, options store.MigrateOptions, out io.Writer) (err error) {
	services, err := program.findServices()
	if err != nil {
		return err
	}
	encryption, err := loadEncryption(f)
	if err != nil {
		return err
	}
	backend, _, err := openBackend(ctx, program, f, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	var all []registry.Resource
	for _, group := range program.groups() {
		all = append(all, group.Resources...)
	}
	left, shared := int64(0), registry.NewShared(all)
	m := Migrator{Services: services, DryRun: options.DryRun}
	m.Config = func(r registry.Resource) registry.Config {
		return registry.Config{
			Backend: backend, Prefix: f.server.Prefix, Encoding: f.server.StorageEncoding, DisableCache: true,
			Transformer: encryption.For(r.Info().Stored().GroupResource()), Shared: shared,
		}
	}
	m.Resource = func(ctx context.Context, r registry.Resource) (store.Migration, error) {
		options.Report = store.ReportEvery(out, progressEvery)
		done, err := registry.Migrate(ctx, r, m.Config(r), options)
		done.Print(out, err)
		left += done.Unreadable
		if ctx.Err() != nil {
			err = fmt.Errorf("interrupted: run it again to go on: %w", err)
		}
		return done, err
	}
	if err := m.all(ctx, program, verb.Distinct(all)); err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%d objects were left as they are", left)
	}
	return nil
}

// all migrates the resources that are stored, and then those of features.
func (m Migrator) all(ctx context.Context, program Program, resources []registry.Resource) error {
	for _, resource := range resources {
		if resource.Info().Stored().Storage == "" {
			continue // its objects aren't stored
		}
		if _, err := m.Resource(ctx, resource); err != nil {
			return err
		}
	}
	for _, feature := range program.Features {
		if more, ok := feature.(Migrating); ok {
			if err := more.Migrate(ctx, m); err != nil {
				return err
			}
		}
	}
	return nil
}

package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/store"
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
	command.Flags().Lookup("request-timeout").Usage = "how long one read or write of storage may take"
	command.Flags().BoolVar(&options.DryRun, "dry-run", false, "count stale objects, and write nothing")
	command.Flags().Float64Var(&options.Rate, "rate", 200,
		"how many objects are written in a second, at most; 0 means no bound")
	return command
}

func migrate(ctx context.Context, program Program, f flags, options store.MigrateOptions, out io.Writer) (err error) {
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
	for _, group := range program.Groups {
		all = append(all, group.Resources...)
	}
	left, shared := int64(0), registry.NewShared(all)
	for _, resource := range registry.Distinct(all) {
		stored := resource.Info().Stored()
		if stored.Storage == "" {
			continue // its objects aren't stored
		}
		options.Report = progressReport(out)
		m, err := registry.Migrate(ctx, resource, registry.Config{
			Backend: backend, Prefix: f.server.Prefix, Encoding: f.server.StorageEncoding,
			Transformer: encryption.For(stored.GroupResource()), Shared: shared,
		}, options)
		printMigration(out, m, err)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted: run it again to go on: %w", err)
		}
		if err != nil {
			return err
		}
		left += m.Unreadable
	}
	if left > 0 {
		return fmt.Errorf("%d objects were left as they are", left)
	}
	return nil
}

// progressReport returns a function that prints the progress of a migration once in progressEvery.
func progressReport(out io.Writer) func(store.Migration) {
	last := time.Now()
	return func(m store.Migration) {
		if time.Since(last) >= progressEvery {
			last = time.Now()
			fmt.Fprintln(out, progress(m))
		}
	}
}

// printMigration prints the result of a migration, which err ended.
func printMigration(out io.Writer, m store.Migration, err error) {
	for _, left := range m.Errors {
		fmt.Fprintf(out, "%s: left as it is: %v\n", m.Resource, left)
	}
	if more := m.Unreadable - int64(len(m.Errors)); more > 0 {
		fmt.Fprintf(out, "%s: and %d more\n", m.Resource, more)
	}
	if err != nil {
		fmt.Fprintf(out, "%s, not done\n", progress(m))
		return
	}
	versions := cmp.Or(strings.Join(m.Stored, ", "), "none")
	fmt.Fprintf(out, "%s, done; versions on record: %s\n", progress(m), versions)
}

func progress(m store.Migration) string {
	return fmt.Sprintf("%s: %d of %d read, %d stale, %d rewritten", m.Resource, m.Read, m.Total, m.Stale, m.Rewritten)
}

package server

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/http/apigroups"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
	"github.com/spf13/cobra"
)

// Program describes a server binary.
type Program struct {
	// Name of the binary, used in help and messages.
	Name string
	// Groups are the API groups to serve: the generated Groups().
	Groups []registry.Group
	// Embedded is a backend inside the process: embedded.Etcd{}. If it is nil, the binary links no etcd server and
	// needs --etcd-servers.
	Embedded storage.Embedded
	// Features are what the server has beside its groups, such as builtin.Standalone().
	Features []Feature
	// Hooks are the author's own, which run beside the server's requests.
	Hooks []Hook
	// Admission are the author's own plug-ins, in their order. They run after those of kube-apiserver that the features
	// bring, and before policies and webhooks.
	Admission []admission.Plugin
	// Services finds the services that webhooks are behind; nil leaves it to DNS.
	Services Services
}

// Main runs the program with the arguments of the process until SIGINT or SIGTERM, and exits: with 0, or after an error
// with 1 and one line on standard error.
func Main(program Program) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal starts the shutdown. It also removes the handler, so that the second signal kills the process.
	context.AfterFunc(ctx, stop)
	err := Command(program).ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", program.Name, strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}

// Command returns the program as a cobra command, for a main with further commands.
func Command(program Program) *cobra.Command {
	var f flags
	command := &cobra.Command{
		Use:           program.Name,
		Short:         "Serve the API groups of " + program.Name + " to Kubernetes clients",
		Long:          long(program),
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(program.Embedded != nil); err != nil {
				return err
			}
			groups, err := apigroups.Unite(program.groups())
			if err != nil {
				return err
			}
			if _, err := apigroups.NewSwitches(apigroups.Parse(f.runtimeConfig), groups); err != nil {
				return err
			}
			f.server.Garbage = f.garbagePolicy(cmd.Flags())
			f.server.Flags = values(cmd.Flags())
			f.server.Authentication.Anonymous = f.anonymousUser(cmd.Flags())
			return serve(cmd.Context(), program, f, cmd.OutOrStdout())
		},
	}
	f.add(command.Flags(), program.Embedded != nil)
	program.addFlags(command.Flags())
	command.AddCommand(migrateCommand(program), certsCommand(program), kubeconfigCommand(program))
	if program.Embedded != nil {
		command.AddCommand(storageCommand(program))
	}
	return command
}

func long(program Program) string {
	text := `Serve the API groups of ` + program.Name + ` to Kubernetes clients, until SIGINT or SIGTERM.

Flags have the names of kube-apiserver's flags if it has them. The server makes certificates that no flag names itself,
in --data-dir: a certificate authority, a certificate for this machine, and a kubeconfig of an administrator, whose
path it prints at the start.`
	if program.Embedded != nil {
		text += `
An etcd inside the process stores objects in --data-dir, too, unless --etcd-servers names a cluster.`
	}
	return text
}

// config returns the configuration that the flags describe.
func (f *flags) config() Config {
	c := f.server
	c.MinRequestTimeout = time.Duration(f.minRequestTimeout) * time.Second
	c.MaxReads, c.MaxWrites = cmp.Or(c.MaxReads, -1), cmp.Or(c.MaxWrites, -1) // 0 would mean the default
	c.DisableCache, c.RuntimeConfig = !f.watchCache, apigroups.Parse(f.runtimeConfig)
	c.Verify = cache.VerifyFromEnvironment()
	return c
}

// early returns the error of a server that failed to start; nil, after a line on out, if a signal ended it.
func early(ctx context.Context, out io.Writer, err error) error {
	if ctx.Err() == nil {
		return err
	}
	fmt.Fprintln(out, "told to end before it served")
	return nil
}

// openBackend opens the backend that the flags name. If existing is true, it refuses a data directory without data, in
// which the server would create a new database.
func openBackend(ctx context.Context, program Program, f flags, existing bool) (storage.Backend, string, error) {
	if len(f.etcd.Endpoints) > 0 {
		config := f.etcd
		config.Prefix = strings.TrimSuffix(f.server.Prefix, "/") + "/"
		backend, err := etcd.New(ctx, config)
		return backend, "etcd at " + strings.Join(config.Endpoints, ","), err
	}
	backend, err := program.Embedded.Open(ctx, f.dataDir, storage.EmbeddedOptions{Quota: f.quota, Existing: existing})
	return backend, "embedded etcd in " + display(f.dataDir), err
}

// display returns a path in a form that a shell accepts.
func display(path string) string {
	if filepath.IsAbs(path) || strings.HasPrefix(path, ".") {
		return path
	}
	return "." + string(filepath.Separator) + path
}

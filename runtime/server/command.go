package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/internal/http/apigroups"
	"apigen.dev/runtime/internal/http/headroom"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/state/stats"
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

// serve runs the server. It begins with the steps that can fail: it reads files, listens and opens storage before it
// writes to the data directory or answers requests.
func serve(ctx context.Context, program Program, f flags, out io.Writer) (err error) {
	policy, warnings, err := f.certificates.policy.Config()
	if err != nil {
		return err
	}
	given, err := certs.ReadGiven(f.certificates.files)
	if err != nil {
		return err
	}
	tokens, err := readTokens(f.tokenFile)
	if err != nil {
		return err
	}
	encryption, err := loadEncryption(f)
	if err != nil {
		return err
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", net.JoinHostPort(f.bindAddress, strconv.Itoa(f.securePort)))
	if err != nil {
		return fmt.Errorf("--bind-address and --secure-port: %w", err)
	}
	defer func() {
		if closed := listener.Close(); !errors.Is(closed, net.ErrClosed) {
			err = errors.Join(err, closed)
		}
	}()
	backend, description, err := openBackend(ctx, program, f, false)
	if err != nil {
		return early(ctx, out, err)
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	level := new(slog.LevelVar)
	level.Set(-slog.Level(f.verbosity))
	log := slog.New(logHandler(f.logFormat, os.Stderr, level))
	for _, warning := range warnings {
		log.Warn(warning)
	}
	headroom.LimitProcess(os.DirFS("/"), log)
	id, err := openIdentity(program.Name, f, given, log)
	if err != nil {
		return err
	}
	if f.server.Profiling && f.contention {
		runtime.SetBlockProfileRate(1)
		runtime.SetMutexProfileFraction(1)
	}
	config := f.config()
	config.Groups, config.Backend, config.LogLevel = program.groups(), backend, level
	config.Listener, config.TLS = listener, policy
	config.TLS.GetCertificate = id.keeper.GetCertificate
	config.Authentication.Certificates, config.Authentication.Tokens = id.users, tokens.authenticators()
	config.ClientCA = func() []byte { return id.keeper.State().ClientCA }
	config.Metrics = append(config.Metrics, stats.Collect(id.collectEnds))
	config.Transformer, config.Log, config.DataDir = transformers(encryption), log, f.dataDir
	if err := program.configure(ctx, &config, f.authorizationModes); err != nil {
		return err
	}
	server, err := New(ctx, config)
	if err != nil {
		return early(ctx, out, err)
	}
	kubeconfig, err := id.writeKubeconfig(server.URL())
	if err != nil {
		return errors.Join(err, server.close())
	}
	defer followEncryption(ctx, f, encryption, program.groups(), log)()
	defer repeat(ctx, fileInterval, id.follow)()
	defer repeat(ctx, fileInterval, tokens.follow(log))()
	fmt.Fprintf(out, "serving %s   storage: %s\nkubeconfig: %s\n", server.URL(), description, kubeconfig)
	return server.Run(ctx)
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

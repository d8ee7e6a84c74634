package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/cache"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
	"github.com/spf13/cobra"
)

// Program is a server binary, as its main describes it.
type Program struct {
	// Name of the binary, used in help and messages.
	Name string
	// Groups are the API groups to serve: the generated Groups().
	Groups []registry.Group
	// Embedded is a backend inside the process: embedded.Etcd{}. A main that leaves it nil links no etcd server, and
	// its binary needs --etcd-servers.
	Embedded storage.Embedded
}

// Main runs the program with the process's arguments until it is told to end by SIGINT or SIGTERM, and exits: 0 where
// all ended well, 1 with one line on standard error otherwise.
func Main(program Program) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal drains; with the handler gone, the second one kills.
	context.AfterFunc(ctx, stop)
	err := Command(program).ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", program.Name, strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}

// Command is the program as a cobra command, for mains that have more of them.
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
			if _, err := newEnablement(parseSwitches(f.runtimeConfig), program.Groups); err != nil {
				return err
			}
			return serve(cmd.Context(), program, f, f.garbagePolicy(cmd.Flags()), cmd.OutOrStdout())
		},
	}
	f.add(command.Flags(), program.Embedded != nil)
	command.AddCommand(migrateCommand(program))
	if program.Embedded != nil {
		command.AddCommand(storageCommand(program))
	}
	return command
}

func long(program Program) string {
	text := `Serve the API groups of ` + program.Name + ` to Kubernetes clients, until SIGINT or SIGTERM.

Flags have kube-apiserver's names where it has them. The server creates in --data-dir what the flags don't name: an
authority, a certificate for this machine, and a kubeconfig of an administrator, whose path it prints when it starts.`
	if program.Embedded != nil {
		text += `
An etcd inside the process stores the objects there, too, unless --etcd-servers names a cluster.`
	}
	return text
}

// serve takes what can fail first: files, then the port, then storage. Nothing is written to the data directory, and
// nothing answers, before all that was given has been read and storage is open.
func serve(ctx context.Context, program Program, f flags, garbage GarbagePolicy, out io.Writer) (err error) {
	given, err := readCredentials(f)
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
	own, err := loadIdentity(filepath.Join(f.dataDir, "pki"))
	if err != nil {
		return fmt.Errorf("certificates in %s: %w", filepath.Join(f.dataDir, "pki"), err)
	}
	certificate, authority, err := servingCertificate(own, given, f.bindAddress)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	config := f.config(garbage)
	config.Groups, config.Backend, config.Listener, config.Certificate = program.Groups, backend, listener, certificate
	config.Authenticator, config.Transformer, config.Log = authenticators(own, given), transformers(encryption), log
	server, err := New(ctx, config)
	if err != nil {
		return early(ctx, out, err)
	}
	kubeconfig, err := writeAdminKubeconfig(program.Name, f.dataDir, server.URL(), authority, own)
	if err != nil {
		return errors.Join(err, server.close())
	}
	defer followEncryption(ctx, f, encryption, program.Groups, log)()
	fmt.Fprintf(out, "serving %s   storage: %s\nkubeconfig: %s\n", server.URL(), description, kubeconfig)
	return server.Run(ctx)
}

// config is what the flags alone say of a server.
func (f *flags) config(garbage GarbagePolicy) Config {
	return Config{
		Prefix: f.etcdPrefix, Garbage: garbage, Authorizer: auth.Discovery{Next: auth.MastersOnly{}}, RuntimeConfig: parseSwitches(f.runtimeConfig),
		RequestTimeout: f.requestTimeout, MinRequestTimeout: time.Duration(f.minRequestTimeout) * time.Second,
		MaxReads: bound(f.maxReads), MaxWrites: bound(f.maxWrites), Profiling: f.profiling,
		DisableCache: !f.watchCache, CheckCache: f.checkCache, Verify: cache.VerifyFromEnvironment(),
		CompactionInterval: f.compactionInterval,
	}
}

// early is how a server ends that could not begin: well, where it was told to end.
func early(ctx context.Context, out io.Writer, err error) error {
	if ctx.Err() == nil {
		return err
	}
	fmt.Fprintln(out, "told to end before it served")
	return nil
}

// bound turns a flag's 0, no bound, into Config's.
func bound(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// openBackend opens what the flags name. existing refuses a data directory that has nothing yet, of which the server
// makes its own.
func openBackend(ctx context.Context, program Program, f flags, existing bool) (storage.Backend, string, error) {
	if len(f.etcdServers) > 0 {
		backend, err := etcd.New(ctx, etcd.Config{Endpoints: f.etcdServers, CAFile: f.etcdCA, CertFile: f.etcdCert, KeyFile: f.etcdKey, Prefix: strings.TrimSuffix(f.etcdPrefix, "/") + "/"})
		return backend, "etcd at " + strings.Join(f.etcdServers, ","), err
	}
	backend, err := program.Embedded.Open(ctx, f.dataDir, storage.EmbeddedOptions{Quota: f.quota, Existing: existing})
	return backend, "embedded etcd in " + display(f.dataDir), err
}

// display shows a path as a shell would take it.
func display(path string) string {
	if filepath.IsAbs(path) || strings.HasPrefix(path, ".") {
		return path
	}
	return "." + string(filepath.Separator) + path
}

func writeAdminKubeconfig(name, dir, url string, authority []byte, own *identity) (string, error) {
	admin, err := own.administrator()
	if err != nil {
		return "", err
	}
	certificate, key, err := pemOf(admin)
	if err != nil {
		return "", err
	}
	content, err := Kubeconfig{Name: name, Server: url, CA: authority, Certificate: certificate, Key: key}.YAML()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "admin.kubeconfig")
	return display(path), writeFile(path, content, 0o600)
}

// servingCertificate is the one that was given, or the server's own; authority is what clients are to trust.
func servingCertificate(own *identity, given credentials, host string) (certificate tls.Certificate, authority []byte, err error) {
	if given.certificate != nil {
		return *given.certificate, given.certificatePEM, nil
	}
	certificate, err = own.serving(host)
	return certificate, encodePEM("CERTIFICATE", own.authority.Raw), err
}

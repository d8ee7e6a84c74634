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
	"runtime"
	"strconv"
	"time"

	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/internal/host/encryption"
	"apigen.dev/runtime/internal/host/footprint"
	"apigen.dev/runtime/internal/host/logging"
	"apigen.dev/runtime/internal/http/headroom"
	"apigen.dev/runtime/internal/state/stats"
	"apigen.dev/runtime/storage"
)

// serve runs the server. It begins with the steps that can fail: it reads files, listens and opens storage before it
// writes to the data directory or answers requests.
func serve(ctx context.Context, program Program, f flags, out io.Writer) (err error) {
	in, err := readInput(f)
	if err != nil {
		return err
	}
	p, err := open(ctx, program, f)
	if err != nil {
		return early(ctx, out, err)
	}
	defer func() { err = errors.Join(err, p.close()) }()
	return p.run(ctx, program, f, in, out)
}

// input is what the files hold that flags name.
type input struct {
	policy     *tls.Config
	warnings   []string
	given      *certs.Given
	tokens     *tokenFile
	encryption *encryption.Source
}

func readInput(f flags) (in input, err error) {
	if in.policy, in.warnings, err = f.certificates.policy.Config(); err != nil {
		return in, err
	}
	if in.given, err = certs.ReadGiven(f.certificates.files); err != nil {
		return in, err
	}
	if in.tokens, err = readTokens(f.tokenFile); err != nil {
		return in, err
	}
	in.encryption, err = loadEncryption(f)
	return in, err
}

// process is what a server has of the machine.
type process struct {
	listener net.Listener
	backend  storage.Backend
	// description says where objects are.
	description string
}

// open listens, and opens storage.
func open(ctx context.Context, program Program, f flags) (p process, err error) {
	var listening net.ListenConfig
	p.listener, err = listening.Listen(ctx, "tcp", net.JoinHostPort(f.bindAddress, strconv.Itoa(f.securePort)))
	if err != nil {
		return p, fmt.Errorf("--bind-address and --secure-port: %w", err)
	}
	if p.backend, p.description, err = openBackend(ctx, program, f, false); err != nil {
		return p, errors.Join(err, p.listener.Close())
	}
	return p, nil
}

func (p process) close() error {
	err := p.listener.Close()
	if errors.Is(err, net.ErrClosed) { // the server has closed it
		err = nil
	}
	return errors.Join(p.backend.Close(), err)
}

// run serves until ctx ends.
func (p process) run(ctx context.Context, program Program, f flags, in input, out io.Writer) error {
	started := footprint.CollectOften()
	defer started()
	defer time.AfterFunc(starting, started).Stop()
	level := new(slog.LevelVar)
	level.Set(-slog.Level(f.verbosity))
	handler, flush := logging.New(f.logFormat, os.Stderr, level)
	defer flush()
	log := slog.New(handler)
	for _, warning := range in.warnings {
		log.Warn(warning)
	}
	f.adjustProcess(log)
	id, err := openIdentity(program.Name, f, in.given, log)
	if err != nil {
		return err
	}
	config := f.config()
	config.Groups, config.Backend, config.Listener = program.groups(), p.backend, p.listener
	config.Log, config.LogLevel, config.DataDir = log, level, f.dataDir
	in.configure(&config)
	id.configure(&config)
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
	defer followEncryption(ctx, f, in.encryption, program.groups(), log)()
	defer repeat(ctx, fileInterval, id.follow)()
	defer repeat(ctx, fileInterval, in.tokens.follow(log))()
	defer time.AfterFunc(settled, func() { giveBack(log) }).Stop()
	fmt.Fprintf(out, "serving %s   storage: %s\nkubeconfig: %s\n", server.URL(), p.description, kubeconfig)
	return server.Run(ctx)
}

// starting is how long a server takes to serve, at most, unless it reads many objects.
const starting = 5 * time.Second

// settled is when a server needs nothing of its start: clients have come, and what is done each minute was done once.
const settled = 75 * time.Second

// giveBack releases the memory that only the start needed.
func giveBack(log *slog.Logger) {
	if err := footprint.Release(); err != nil {
		log.Debug("the pages of the program stay in memory", "error", err)
	}
}

// adjustProcess changes what Go has once for a process.
func (f *flags) adjustProcess(log *slog.Logger) {
	headroom.LimitProcess(os.DirFS("/"), log)
	if f.server.Profiling && f.contention {
		runtime.SetBlockProfileRate(1)
		runtime.SetMutexProfileFraction(1)
	}
}

func (in input) configure(c *Config) {
	c.TLS, c.Authentication.Tokens, c.Transformer = in.policy, in.tokens.authenticators(), transformers(in.encryption)
}

// configure lets the server be known by the certificates, and know its clients by theirs. It comes after the policy.
func (id *identity) configure(c *Config) {
	c.TLS.GetCertificate, c.Authentication.Certificates = id.keeper.GetCertificate, id.users
	c.ClientCA = func() []byte { return id.keeper.State().ClientCA }
	c.Metrics = append(c.Metrics, stats.Collect(id.collectEnds))
}

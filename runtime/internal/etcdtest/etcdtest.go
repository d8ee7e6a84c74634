// Package etcdtest runs a real etcd as a process beside a test, which can stop, kill and restart it.
//
// It knows the testing package and the go command: the binary is built once, from the etcd that go.mod names.
package etcdtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// startTimeout bounds how long etcd may take to serve.
const startTimeout = 2 * time.Minute

// Process is an etcd on loopback ports: one of a single member, or one member of a Cluster. A failed method fails the
// test. One goroutine at a time calls methods.
type Process struct {
	t                    testing.TB
	name, dir            string
	clientPort, peerPort int
	flags                []string
	// cluster and certificates are set for a member of a Cluster.
	cluster      string
	certificates *Certificates
	metricsPort  int
	peerProxy    *Proxy

	command *exec.Cmd
	stdin   io.Closer
	log     *os.File
	done    chan struct{} // closed when command has ended
}

// Start runs an etcd on an empty data directory, waits until it serves, and ends it with the test. flags are further
// flags of etcd.
func Start(t testing.TB, flags ...string) *Process {
	t.Helper()
	p := &Process{t: t, name: "test", dir: t.TempDir(), flags: flags}
	t.Cleanup(p.Kill)
	for try := 1; ; try++ {
		p.clientPort, p.peerPort, p.metricsPort = FreePort(t), FreePort(t), FreePort(t)
		p.cluster = p.name + "=" + p.peerURL()
		err := start(p)
		if err == nil {
			return p
		}
		if try == 3 { // another process may have taken a port meanwhile, but not that often
			t.Fatalf("etcd does not start: %v", err)
		}
	}
}

// Endpoint returns the URL for clients.
func (p *Process) Endpoint() string {
	return fmt.Sprintf("%s://127.0.0.1:%d", p.scheme(), p.clientPort)
}

// ClientPort returns the port of Endpoint.
func (p *Process) ClientPort() int { return p.clientPort }

// Pid returns the id of the process. Restart changes it.
func (p *Process) Pid() int { return p.command.Process.Pid }

// Directory returns the data directory. A test may replace it while the process is killed.
func (p *Process) Directory() string { return p.dir }

func (p *Process) peerURL() string { return fmt.Sprintf("%s://127.0.0.1:%d", p.scheme(), p.peerPort) }

// advertisedURL returns the URL at which the other members reach this one.
func (p *Process) advertisedURL() string {
	if p.peerProxy == nil {
		return p.peerURL()
	}
	return p.scheme() + "://" + p.peerProxy.Address()
}

func (p *Process) scheme() string {
	if p.certificates != nil {
		return "https"
	}
	return "http"
}

// Kill ends the process at once, as a crash does.
func (p *Process) Kill() {
	p.t.Helper()
	if p.command == nil {
		return
	}
	if err := p.command.Process.Kill(); err != nil && !p.ended() {
		p.t.Fatalf("killing etcd: %v", err)
	}
	<-p.done
	_ = p.stdin.Close()
	_ = p.log.Close()
	p.command = nil
}

// Reclaim returns the space of compacted history to the system, and clears all alarms.
func (p *Process) Reclaim() {
	p.t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{p.Endpoint()}, Logger: zap.NewNop()})
	if err != nil {
		p.t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if _, err := client.Defragment(ctx, p.Endpoint()); err != nil {
		p.t.Fatalf("defragmenting etcd: %v", err)
	}
	if _, err := client.AlarmDisarm(ctx, &clientv3.AlarmMember{}); err != nil {
		p.t.Fatalf("clearing the alarms of etcd: %v", err)
	}
}

// Restart starts a killed process again, on the same data and ports, and waits until it serves.
func (p *Process) Restart() {
	p.t.Helper()
	if err := start(p); err != nil {
		p.t.Fatalf("etcd does not start again: %v", err)
	}
}

func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// start kills the processes that still run, starts all, and waits until they serve.
func start(processes ...*Process) error {
	for _, p := range processes {
		p.Kill()
	}
	for _, p := range processes {
		if err := p.launch(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	for _, p := range processes {
		if err := p.await(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

func (p *Process) arguments() []string {
	client, peer := p.Endpoint(), p.peerURL()
	// A short election, for a quick start of the one member. Several must not lose each other where the machine is
	// busy.
	heartbeat, election := "10", "100"
	if p.peerProxy != nil {
		heartbeat, election = "50", "500"
	}
	arguments := []string{
		"--name=" + p.name, "--data-dir=" + p.dir, "--log-level=error", "--heartbeat-interval=" + heartbeat,
		"--election-timeout=" + election,
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client, "--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + p.advertisedURL(), "--initial-cluster=" + p.cluster,
		"--listen-metrics-urls=" + p.metricsURL(),
		"--bcrypt-cost=4", // the least: a password is hashed at every login
	}
	if c := p.certificates; c != nil {
		arguments = append(arguments, "--client-cert-auth", "--peer-client-cert-auth",
			"--trusted-ca-file="+c.CAFile, "--cert-file="+c.CertFile, "--key-file="+c.KeyFile,
			"--peer-trusted-ca-file="+c.CAFile, "--peer-cert-file="+c.CertFile, "--peer-key-file="+c.KeyFile)
	}
	return append(arguments, p.flags...)
}

// metricsURL answers health without a client certificate.
func (p *Process) metricsURL() string { return fmt.Sprintf("http://127.0.0.1:%d", p.metricsPort) }

// launch starts the process and does not wait for it to serve.
func (p *Process) launch() error {
	arguments := p.arguments()
	command := exec.Command(binary(p.t), arguments...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "ETCD_") {
			command.Env = append(command.Env, variable)
		}
	}
	stdin, err := command.StdinPipe()
	if err != nil {
		return err
	}
	log, err := os.CreateTemp(p.t.TempDir(), "etcd-*.log")
	if err != nil {
		return err
	}
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		_ = command.Wait() // the log says how it ended
		close(done)
	}()
	p.command, p.stdin, p.log, p.done = command, stdin, log, done
	return nil
}

// await waits until the process serves. It kills a process that doesn't, and returns its log in the error.
func (p *Process) await() error {
	if err := p.healthy(); err != nil {
		name := p.log.Name()
		p.Kill()
		text, _ := os.ReadFile(name)
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

// healthy waits until etcd reports that it has a leader and serves requests.
func (p *Process) healthy() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.metricsURL()+"/health", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		response, err := client.Do(request)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.done:
			return fmt.Errorf("etcd ended: %s", p.command.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("etcd is not healthy after %s: %w", startTimeout, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

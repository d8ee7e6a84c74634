package main

import (
	"bytes"
	"context"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// startTimeout bounds how long a process may take until it serves.
const startTimeout = 2 * time.Minute

// noCluster is the kubeconfig that the peer wants of a cluster; it sends nothing to it.
const noCluster = `{"apiVersion":"v1","kind":"Config","current-context":"none",
"clusters":[{"name":"none","cluster":{"server":"https://127.0.0.1:1"}}],
"contexts":[{"name":"none","context":{"cluster":"none","user":"none"}}],
"users":[{"name":"none","user":{"token":"none"}}]}`

// process is one that this program started. It ends with the context of its start.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
}

// start runs a binary, whose output goes to a file.
func start(ctx context.Context, log, binary string, arguments ...string) (*process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // the process has it, too
	p := &process{command: exec.CommandContext(ctx, binary, arguments...), ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = file, file
	if _, err := p.command.StdinPipe(); err != nil { // etcd ends with its standard input
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.command.Wait()
	}()
	return p, nil
}

// ready waits until a URL answers 200.
func (p *process) ready(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if response, err := client.Do(request); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return errors.New("the process ended before it served")
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", url, ctx.Err())
		}
	}
}

// cpu returns the user and system time that the process has used, in seconds.
func (p *process) cpu() (float64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	return parseStat(stat)
}

// parseStat reads the fields utime and stime of /proc/PID/stat. The name of the command, which may have spaces, ends
// with the last parenthesis; the two are the 12th and the 13th field after it. Linux counts them in hundredths of a
// second on all systems that Go supports.
func parseStat(stat []byte) (float64, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat has %d fields after the command", len(fields))
	}
	user, err := strconv.ParseUint(string(fields[11]), 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseUint(string(fields[12]), 10, 64)
	return float64(user+system) / 100, err
}

// pair is the peer and our server, in the order of the table's columns.
type pair struct{ servers []*server }

// wait returns when all processes have ended.
func (p pair) wait() {
	for _, s := range p.servers {
		for _, started := range []*process{s.process, s.etcd} {
			if started != nil {
				<-started.ended
			}
		}
	}
}

// startPair builds and starts both servers, each on an etcd of its own. If it fails, the pair has all that was started.
func startPair(ctx context.Context, dir string) (p pair, err error) {
	for name, pkg := range map[string]string{"etcd": "apigen.dev/runtime/internal/etcdtest/etcd",
		"apigen": "apigen.dev/runtime/conformance/compare/wardle", "peer": "k8s.io/sample-apiserver",
		"flood": "apigen.dev/runtime/conformance/compare/flood"} {
		build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, name), pkg)
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return p, fmt.Errorf("go build %s: %w", pkg, err)
		}
	}
	a, err := newAuthority(dir)
	if err != nil {
		return p, err
	}
	masters := []string{"system:masters"}
	if err := errors.Join(a.issue("server", pkix.Name{CommonName: "server"}),
		a.issue("client", pkix.Name{CommonName: "client", Organization: masters}),
		a.issue("flooder", pkix.Name{CommonName: "flooder", Organization: masters})); err != nil {
		return p, err
	}
	none := filepath.Join(dir, "nocluster.kubeconfig")
	if err := os.WriteFile(none, []byte(noCluster), 0o600); err != nil {
		return p, err
	}
	for _, s := range []*server{
		{name: "peer", stored: "v1alpha1", other: "v1beta1", flags: []string{"--kubeconfig=" + none,
			"--authentication-kubeconfig=" + none, "--authorization-kubeconfig=" + none,
			"--authentication-skip-lookup", "--enable-priority-and-fairness=false",
			"--disable-admission-plugins=NamespaceLifecycle,MutatingAdmissionPolicy,MutatingAdmissionWebhook," +
				"ValidatingAdmissionPolicy,ValidatingAdmissionWebhook"}},
		{name: "apigen", stored: "v1beta1", other: "v1alpha1", flags: []string{
			"--data-dir=" + filepath.Join(dir, "data")}},
	} {
		p.servers = append(p.servers, s)
		if err := s.start(ctx, a); err != nil {
			text, _ := os.ReadFile(filepath.Join(dir, s.name+".log"))
			return p, fmt.Errorf("starting %s: %w\n%s", s.name, err, text)
		}
	}
	return p, nil
}

// start runs etcd and the server, and returns when they serve.
func (s *server) start(ctx context.Context, a *authority) error {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	config, err := a.clientConfig()
	if err != nil {
		return err
	}
	s.file, s.tls, s.url = a.file, config, fmt.Sprintf("https://127.0.0.1:%d", ports[0])
	clients, peers := fmt.Sprintf("http://127.0.0.1:%d", ports[1]), fmt.Sprintf("http://127.0.0.1:%d", ports[2])
	if s.etcd, err = start(ctx, a.file(s.name+".etcd.log"), a.file("etcd"), "--data-dir="+a.file(s.name+".etcd"),
		"--log-level=error", "--listen-client-urls="+clients, "--advertise-client-urls="+clients,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers,
		"--initial-cluster=default="+peers); err != nil {
		return err
	}
	if err := s.etcd.ready(ctx, http.DefaultClient, clients+"/health"); err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	s.process, err = start(ctx, a.file(s.name+".log"), a.file(s.name), append([]string{
		"--etcd-servers=" + clients, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[0]),
		"--tls-cert-file=" + a.file("server.crt"), "--tls-private-key-file=" + a.file("server.key"),
		"--client-ca-file=" + a.file("ca.crt")}, s.flags...)...)
	if err != nil {
		return err
	}
	return s.process.ready(ctx, s.newClient().http, s.url+"/readyz")
}

// freePorts returns ports of 127.0.0.1 on which nothing listens.
func freePorts(n int) ([]int, error) {
	ports, loopback := make([]int, n), &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	for i := range ports {
		listener, err := net.ListenTCP("tcp", loopback)
		if err != nil {
			return nil, err
		}
		defer func() { _ = listener.Close() }()
		ports[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

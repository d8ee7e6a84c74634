package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// startTimeout bounds how long a process may take until it serves.
const startTimeout = 2 * time.Minute

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

// start runs etcd and the server, and returns when they serve.
func (s *server) start(ctx context.Context, a *authority) error {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	config, err := a.clientConfig(s.client)
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
	if err := s.process.ready(ctx, s.newClient().http, s.url+"/readyz"); err != nil || s.prepare == nil {
		return err
	}
	return s.prepare(ctx, s, a)
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

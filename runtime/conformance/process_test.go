package conformance

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
)

// process is a server as a process of its own.
type process struct {
	t         *testing.T
	binary    string
	dir       string
	arguments []string
	command   *exec.Cmd
	log       string
	// serves is the value of serveVariable.
	serves string
}

// startProcess starts a server on a directory of its own, and ends it with the test.
func startProcess(t *testing.T, arguments ...string) *process {
	t.Helper()
	return startServing(t, "1", arguments...)
}

// startServing is startProcess for a server of other groups.
func startServing(t *testing.T, serves string, arguments ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := &process{t: t, binary: self, dir: dir, serves: serves, log: filepath.Join(dir, "server.log"),
		arguments: append([]string{"--data-dir=" + filepath.Join(dir, "data"),
			fmt.Sprintf("--secure-port=%d", etcdtest.FreePort(t)), "--watch-cache-consistency-check=1s"}, arguments...)}
	p.start()
	t.Cleanup(func() {
		p.kill()
		text, _ := os.ReadFile(p.log)
		if bytes.Contains(text, []byte("DATA RACE")) || bytes.Contains(text, []byte("panic")) {
			t.Error("the server panicked, or has a data race")
		}
		if t.Failed() {
			t.Logf("the server's log:\n%s", text)
		}
	})
	return p
}

func (p *process) kubeconfig() string { return filepath.Join(p.dir, "data", "admin.kubeconfig") }

// start starts the process, and returns when it serves: it prints where once its storage is open.
func (p *process) start() {
	p.t.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer log.Close()
	command := exec.Command(p.binary, p.arguments...)
	command.Env = append(os.Environ(), serveVariable+"="+p.serves, "APIGEN_VERIFY=1")
	command.Stderr = log
	out, err := command.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.command = command
	ready := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(out)
		told := false
		for !told && lines.Scan() {
			told = strings.HasPrefix(lines.Text(), "kubeconfig: ")
		}
		ready <- told
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case ok := <-ready:
		if !ok {
			p.t.Fatal("the server ended before it served")
		}
	case <-patience():
		p.t.Fatalf("the server does not serve after %s", bound)
	}
}

// kill ends the process as a crash does.
func (p *process) kill() {
	if p.command == nil {
		return
	}
	_ = p.command.Process.Kill() // it may have ended
	_ = p.command.Wait()
	p.command = nil
}

// crash kills the process and starts it again on what it left behind.
func (p *process) crash() {
	p.t.Helper()
	p.kill()
	p.start()
}

package controllers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long a condition may take, on a machine that is busy.
const patience = 3 * time.Minute

// controlplane is a running examples/controlplane.
type controlplane struct {
	// kubeconfig is that of its administrator.
	kubeconfig string
	dir        string
}

// long skips a test that builds programs of other projects, unless such tests are asked for.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("APIGEN_LONG") == "" {
		t.Skip("it builds programs of other projects, which takes minutes: make controllers runs it")
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl on this machine: ", err)
	}
}

// start runs examples/controlplane until the test ends. Services are where those of webhooks listen.
func start(t *testing.T, services ...string) *controlplane {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "controlplane")
	run(t, filepath.Join("..", "..", "..", "examples", "controlplane"), "go", "build", "-o", binary, ".")
	data := filepath.Join(dir, "data")
	args := []string{"--data-dir=" + data, "--bind-address=127.0.0.1", "--secure-port=0"}
	for _, service := range services {
		args = append(args, "--service-endpoints="+service)
	}
	c := &controlplane{kubeconfig: filepath.Join(data, "admin.kubeconfig"), dir: dir}
	ended := launch(t, exec.CommandContext(t.Context(), binary, args...))
	eventually(t, func() error {
		select {
		case <-ended:
			t.Fatal("the control plane ended")
		default:
		}
		if _, err := os.Stat(c.kubeconfig); err != nil {
			return err
		}
		_, err := c.try("", "get", "--raw=/readyz")
		return err
	})
	return c
}

// launch starts a command, and ends it with the test, which prints what the command said if it fails. The returned
// channel is closed when the command has ended.
func launch(t *testing.T, command *exec.Cmd) (ended <-chan struct{}) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	log, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = log, log
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 20 * time.Second
	if err := errors.Join(command.Start(), log.Close()); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = command.Wait() // its log says why it ended
	}()
	t.Cleanup(func() {
		<-done
		if text, err := os.ReadFile(path); err == nil && t.Failed() {
			t.Logf("%s:\n%s", filepath.Base(command.Path), text[max(0, len(text)-20_000):])
		}
	})
	return done
}

// kubectl runs kubectl as the administrator, with input, and returns what it prints.
func (c *controlplane) kubectl(t *testing.T, input string, args ...string) string {
	t.Helper()
	out, err := c.try(input, args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func (c *controlplane) try(input string, args ...string) (string, error) {
	var errs strings.Builder
	command := exec.Command("kubectl", append([]string{"--kubeconfig=" + c.kubeconfig}, args...)...)
	command.Stdin, command.Stderr = strings.NewReader(input), &errs
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%w\n%s%s", err, out, errs.String())
	}
	return string(out), err
}

// eventually calls try until it succeeds.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	ticker, end := time.NewTicker(200*time.Millisecond), time.After(patience)
	defer ticker.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-end:
			t.Fatalf("it lasts longer than %v: %v", patience, err)
		}
	}
}

// freePort returns a port that nobody listens on. The control plane must know where a webhook listens before the
// webhook starts, so that the webhook can't choose.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err = errors.Join(err, listener.Close()); err != nil {
		t.Fatal(err)
	}
	return port
}

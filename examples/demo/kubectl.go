package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// kubectl is the client that users have.
type kubectl struct{ path, project string }

func (k *kubectl) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, k.path, args...)
	cmd.Dir = k.project
	// kubectl gets a home of its own, without its cache of other servers.
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(k.project, "data", "admin.kubeconfig"), "HOME="+filepath.Join(k.project, "data"))
	return cmd
}

func (k *kubectl) run(ctx context.Context, st step) (string, bool) {
	fmt.Printf("$ kubectl %s\n", st.kubectl)
	cmd := k.command(ctx, strings.Fields(st.kubectl)...)
	if st.stdin != "" {
		cmd.Stdin = strings.NewReader(st.stdin)
	}
	out, err := cmd.CombinedOutput()
	fmt.Print(string(out))
	return string(out), err != nil
}

func (k *kubectl) object(ctx context.Context) (string, error) {
	out, err := k.command(ctx, "get", "widget", "widget-sample", "-o", "json").Output()
	return string(out), err
}

func (k *kubectl) watch(ctx context.Context) (*watching, error) {
	args := []string{"get", "widgets", "--watch", "--output-watch-events"}
	fmt.Printf("$ kubectl %s &\n", strings.Join(args, " "))
	ctx, cancel := context.WithCancel(ctx)
	cmd := k.command(ctx, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	return follow(out, func() {
		cancel()
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			fmt.Println("the watch ended with:", err)
		}
	}), nil
}

// reconnect has nothing to do: kubectl reads the kubeconfig each time.
func (k *kubectl) reconnect() error { return nil }

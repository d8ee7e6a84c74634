// Command demo shows a newcomer's first steps: it scaffolds a project with apigen, builds it, serves it on the embedded
// etcd, drives it with kubectl (or with plain HTTPS if there is no kubectl), kills the server with kill -9 on the way,
// and shows that nothing was lost. It exits with status 1 if a step fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	apigen := flag.String("apigen", "bin/apigen", "the apigen binary to use")
	plain := flag.Bool("https", false, "use plain HTTPS, also where there is a kubectl")
	keep := flag.Bool("keep", false, "leave the project where it is")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	begin := time.Now()
	if err := demo(ctx, *apigen, *plain, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo:", err)
		cancel()
		os.Exit(1)
	}
	fmt.Printf("\n# All of it worked, in %s.\n", time.Since(begin).Round(100*time.Millisecond))
}

func demo(ctx context.Context, apigen string, plain, keep bool) (err error) {
	apigen, err = filepath.Abs(apigen)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "apigen-demo-")
	if err != nil {
		return err
	}
	if keep {
		fmt.Printf("# The project stays in %s\n", temp)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	}
	project := filepath.Join(temp, "shop")
	if err := scaffold(ctx, apigen, temp, project); err != nil {
		return err
	}
	server := &server{project: project}
	if err := server.start(ctx); err != nil {
		return err
	}
	defer server.kill()
	client, err := newClient(project, plain)
	if err != nil {
		return err
	}
	if err := drive(ctx, client, server); err != nil {
		return errors.Join(err, server.failure())
	}
	say("SIGTERM drains and ends the server.")
	return server.stop()
}

// scaffold makes the project and builds its server.
func scaffold(ctx context.Context, apigen, temp, project string) error {
	say("A new project, outside of apigen's repository.")
	if err := command(ctx, temp, apigen, "init", "shop", "--module", "example.com/shop", "--group", "shop.example.com",
		"--version", "v1", "--kind", "Widget"); err != nil {
		return err
	}
	say("Everything that follows from the types.")
	if err := command(ctx, project, apigen, "build", "./..."); err != nil {
		return err
	}
	if err := command(ctx, project, apigen, "build", "--check", "./..."); err != nil {
		return err
	}
	say("The server.")
	return command(ctx, project, "go", "build", "-o", binary("bin/shop"), "./cmd/shop")
}

// say prints what comes next.
func say(format string, args ...any) { fmt.Printf("\n# "+format+"\n", args...) }

// command runs a program and shows it.
func command(ctx context.Context, dir, name string, args ...string) error {
	fmt.Printf("$ %s %s\n", filepath.Base(name), strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}

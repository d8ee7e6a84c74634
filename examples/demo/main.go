// Command demo shows a newcomer's first steps: it runs the commands of docs/getting-started.md, which scaffold a
// project with apigen, serve it on the embedded etcd, drive it with kubectl and kill it with kill -9. It prints the
// commands and their output, and exits with status 1 if an output differs from the page.
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
	"syscall"
	"time"

	"apigen.dev/examples/demo/transcript"
)

func main() {
	apigen := flag.String("apigen", "bin/apigen", "the apigen binary to use")
	page := flag.String("page", "docs/getting-started.md", "the page whose commands to run")
	keep := flag.Bool("keep", false, "leave the project where it is")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	begin := time.Now()
	if err := demo(ctx, *apigen, *page, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo:", err)
		stop()
		os.Exit(1)
	}
	fmt.Printf("\n# All of it worked, in %s.\n", time.Since(begin).Round(100*time.Millisecond))
}

func demo(ctx context.Context, apigen, page string, keep bool) (err error) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		return fmt.Errorf("%w: make kubectl builds bin/kubectl; put bin on the PATH", err)
	}
	blocks, err := transcript.Blocks(page)
	if err != nil {
		return err
	}
	apigen, err = filepath.Abs(apigen)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "apigen-demo-")
	if err != nil {
		return err
	}
	if keep {
		fmt.Printf("# The project stays in %s\n", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	path := filepath.Dir(apigen) + string(filepath.ListSeparator) + os.Getenv("PATH")
	shell, err := transcript.Start(ctx, dir, filepath.Join(dir, "server.log"), append(os.Environ(), "PATH="+path))
	if err != nil {
		return err
	}
	shell.Echo = os.Stdout
	defer func() { err = errors.Join(err, shell.Close()) }()
	for _, block := range blocks {
		if block.Language != "console" {
			continue
		}
		fmt.Printf("\n# %s\n", block.Heading)
		for _, step := range block.Steps() {
			if err := shell.Run(ctx, step); err != nil {
				return fmt.Errorf("%s:%d: $ %s: %w", page, step.Line, step.Command, err)
			}
		}
	}
	return nil
}

// Package command is the command line of apigen: a file for each subcommand. The package is public only so that
// cmd/apigen can import it. Main is its only exported name.
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs the command line of this process and returns the exit status: 2 for errors, 1 for generated code that is
// stale. A signal that interrupts the process ends the command. Main sets the memory limit of the process.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	limitMemory(os.Getenv)
	return run(ctx, args)
}

// status is an error that only sets the exit status, for errors that were printed already.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func run(ctx context.Context, args []string) int {
	root := command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var s status
	switch {
	case err == nil:
		return 0
	case errors.As(err, &s):
		return int(s)
	}
	fmt.Fprintln(root.ErrOrStderr(), "apigen:", err)
	return 2
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "apigen",
		Short: "Generate a Kubernetes-style API server from annotated Go structs",
		Example: `  apigen init shop --module example.com/shop --group shop.example.com --version v1 --kind Widget
  cd shop && go generate ./... && go run ./cmd/shop`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		newInit(),
		buildCommand(),
		compatCommand(),
		deployCommand(),
		devCommand(),
		markersCommand(),
		versionCommand(),
	)
	return root
}

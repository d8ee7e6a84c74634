// Command apigen generates the code of Kubernetes-style API servers from annotated Go structs.
//
//	apigen init            writes a new project, or adds to one
//	apigen build ./...     generates code from the types and markers of packages
//	apigen build --check   fails, with a diff, if generated code is stale
//	apigen compat          finds changes that break clients or stored objects
//	apigen deploy          brings a deployment behind a cluster up to date with the types
//	apigen dev             generates, compiles and restarts the server on every change
//	apigen markers         prints the reference of markers
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	limitMemory(os.Getenv)
	os.Exit(run(ctx, os.Args[1:]))
}

// status is an error that only sets the exit status, for errors that were printed already.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// run runs the command line and returns the exit status: 2 for errors, 1 for generated code that is stale.
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

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/report"
	"apigen.dev/generator/internal/scaffold"
	"apigen.dev/generator/internal/served"
	"github.com/spf13/cobra"
)

func deployCommand() *cobra.Command {
	var check bool
	command := &cobra.Command{
		Use:   "deploy [DIR]",
		Short: "Bring a deployment behind a cluster up to date with the types",
		Long: `Deploy writes the file of a deployment that follows from the types: ` + scaffold.APIServicesFile + `,
with an APIService for each version that the project serves, and the right to keep the caBundle of these. The
APIServices name the Service in deploy/base/service.yaml. The newest stable version of a group has the highest priority.

All other files of a deployment are yours. "apigen init --deploy" writes them once.

Exit status 1 means that --check found a stale file; 2 means an error.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			change, err := following(cmd.Context(), cmd.ErrOrStderr(), dir)
			switch {
			case err != nil:
				return err
			case string(change.Old) == string(change.New):
				return nil
			case check:
				fmt.Fprint(cmd.OutOrStdout(), change.Diff(dir))
				return status(1)
			}
			return writeFollowing(cmd.ErrOrStderr(), change)
		},
	}
	command.Flags().BoolVar(&check, "check", false,
		"write nothing; print a diff and exit with status 1 if the file is stale or missing")
	return command
}

// initDeployment writes what runs the server of a project behind a cluster.
func initDeployment(ctx context.Context, w io.Writer, dir string) error {
	result, err := scaffold.Deploy(dir)
	if result != nil {
		listFiles(w, dir, result)
	}
	if err != nil {
		return err
	}
	change, err := following(ctx, w, dir)
	if err != nil {
		return fmt.Errorf("%s was not written; run `apigen deploy` once the project builds: %w",
			scaffold.APIServicesFile, err)
	}
	if string(change.Old) == string(change.New) {
		listFiles(w, dir, &scaffold.Result{Kept: []string{scaffold.APIServicesFile}})
	} else if err := writeFollowing(w, change); err != nil {
		return err
	}
	delegates, folder, err := scaffold.Delegates(dir)
	if err == nil && !delegates {
		fmt.Fprintf(w, `%s has no features that leave users and permissions to a cluster, and that make the certificate
which the cluster believes, so the Deployment's flags are unknown to it. Import
"apigen.dev/runtime/builtin/delegated" and "apigen.dev/runtime/builtin/cluster", and name the features in place of
builtin.Standalone():
  Features: []server.Feature{&delegated.Feature{}, &cluster.Feature{}},
`, folder)
	}
	return err
}

// following returns the change of the file that follows from the types.
func following(ctx context.Context, w io.Writer, dir string) (generator.Change, error) {
	served, err := served.Versions(ctx, dir)
	if err != nil {
		return generator.Change{}, errors.New(report.Describe(err, dir))
	}
	file, err := scaffold.APIServices(dir, served)
	if err != nil {
		return generator.Change{}, err
	}
	if len(file.Hosts) > 0 {
		fmt.Fprintf(w, "no APIService for %s: a cluster serves these groups itself\n", strings.Join(file.Hosts, ", "))
	}
	return generator.Change{Path: filepath.Join(dir, filepath.FromSlash(file.Path)), Old: file.Old, New: file.New}, nil
}

func writeFollowing(w io.Writer, change generator.Change) error {
	if err := os.MkdirAll(filepath.Dir(change.Path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(change.Path, change.New, 0o644); err != nil {
		return err
	}
	done := "updated"
	if change.Old == nil {
		done = "created"
	}
	fmt.Fprintln(w, done, change.Path)
	return nil
}

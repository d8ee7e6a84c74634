package server

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/storage"
	"github.com/spf13/cobra"
)

// storageTarget is the embedded backend of a data directory, which a running server may have opened.
type storageTarget struct {
	program Program
	flags   flags
}

// storageCommand is `<server> storage`, with which an operator maintains the embedded etcd.
func storageCommand(program Program) *cobra.Command {
	t := &storageTarget{program: program}
	command := &cobra.Command{
		Use:   "storage",
		Short: "Maintain the embedded etcd: status, snapshot, restore, defrag",
		Long: `Maintain the embedded etcd in --data-dir. If a server runs on the data directory, the command sends
requests to that server, with the admin kubeconfig in the data directory; else it opens the data.
Stop the server before a restore.`,
		Args: cobra.NoArgs, // a misspelled command is an error
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	command.PersistentFlags().StringVar(&t.flags.dataDir, "data-dir", "data", "data directory of the server")
	command.PersistentFlags().Int64Var(&t.flags.quota, "quota-backend-bytes", storage.DefaultQuota,
		"the quota, if no server runs")
	command.AddCommand(t.restoreCommand())
	t.add(command, cobra.Command{
		Use: "status", Short: "Print revision, size, quota and alarms", Args: cobra.NoArgs,
	}, printSpace)
	t.add(command, cobra.Command{
		Use: "snapshot FILE", Short: "Write all data, of one revision, to a new file", Args: cobra.ExactArgs(1),
	}, writeSnapshot)
	t.add(command, cobra.Command{
		Use: "defrag", Short: "Give unused space back to the system, and accept writes again after an alarm for space",
		Long: `Give unused space back to the system. If the quota was used up, the command drops all history before,
so that watches begin anew, and the server accepts writes again if the size is below the quota afterwards. The
server answers no requests meanwhile.`,
		Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, m storage.Maintainer) error {
		if err := m.Defrag(cmd.Context()); err != nil {
			return err
		}
		return printSpace(cmd, m)
	})
	return command
}

func (t *storageTarget) add(
	parent *cobra.Command, command cobra.Command, do func(*cobra.Command, storage.Maintainer) error,
) {
	command.RunE = func(cmd *cobra.Command, _ []string) error { return t.with(cmd, do) }
	parent.AddCommand(&command)
}

func (t *storageTarget) restoreCommand() *cobra.Command {
	bump := int64(storage.DefaultBump)
	command := &cobra.Command{
		Use: "restore FILE", Short: "Restore a snapshot into a data directory without data", Args: cobra.ExactArgs(1),
		Long: `Restore a snapshot of this command or of etcdctl into a data directory without data. Move existing
data away first: mv data/etcd elsewhere. Revisions continue above all revisions that clients have seen since the
snapshot was taken, so that clients don't use outdated caches: their watches begin anew.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if bump < 0 {
				return fmt.Errorf("--bump-revision: %d must not be negative", bump)
			}
			options := storage.RestoreOptions{Bump: bump}
			if bump == 0 {
				options.Bump = -1
			}
			if err := t.program.Embedded.Restore(cmd.Context(), args[0], t.flags.dataDir, options); err != nil {
				if errors.Is(err, storage.ErrInUse) {
					err = fmt.Errorf("%w: stop it first", err)
				}
				return err
			}
			return t.with(cmd, printSpace)
		},
	}
	command.Flags().Int64Var(&bump, "bump-revision", bump,
		"how far revisions move forward: by more than the number of writes since the snapshot was taken")
	return command
}

// with calls do with the backend, which it opens if no server has opened it, or with a client of that server.
func (t *storageTarget) with(cmd *cobra.Command, do func(*cobra.Command, storage.Maintainer) error) (err error) {
	backend, _, err := openBackend(cmd.Context(), t.program, t.flags, true)
	if errors.Is(err, storage.ErrInUse) {
		running, connectErr := connect(filepath.Join(t.flags.dataDir, "admin.kubeconfig"))
		if connectErr != nil {
			return fmt.Errorf("%w, which can't be asked: %w", err, connectErr)
		}
		defer running.client.CloseIdleConnections()
		return do(cmd, running)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	maintainer, ok := backend.(storage.Maintainer)
	if !ok {
		return errors.New("this backend has nothing to maintain")
	}
	return do(cmd, maintainer)
}

// connect returns a client with the credentials of the admin kubeconfig.
func connect(path string) (*remote, error) {
	config, err := kubeconfig.Read(path)
	if err != nil {
		return nil, err
	}
	client, err := config.Client(slog.New(slog.DiscardHandler), 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &remote{client: client, server: config.Server.String()}, nil
}

// writeSnapshot writes a snapshot to a new file, which the argument names. After an error it leaves no file.
func writeSnapshot(cmd *cobra.Command, m storage.Maintainer) (err error) {
	path := cmd.Flags().Arg(0)
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s exists, and a snapshot overwrites nothing", path)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".unfinished-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // it may be closed already
			_ = os.Remove(file.Name())
		}
	}()
	revision, err := m.Snapshot(cmd.Context(), file)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err = errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), path); err == nil {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: revision %d, %d bytes\n", path, revision, info.Size())
	}
	return err
}

func printSpace(cmd *cobra.Command, m storage.Maintainer) error {
	space, err := m.Space(cmd.Context())
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "etcd:     %s\nrevision: %d\nsize:     %d bytes, %d of them in use\n"+
		"quota:    %d bytes (%d %% used)\n",
		space.Version, space.Revision, space.Size, space.InUse, space.Quota, 100*space.Size/max(space.Quota, 1))
	for _, alarm := range space.Alarms {
		fmt.Fprintf(out, "alarm:    %s\n", alarm)
	}
	if space.Full() {
		fmt.Fprintln(out, spaceAdvice)
	}
	return nil
}

const spaceAdvice = "writes are refused: delete what is not needed and run `storage defrag`, " +
	"or restart with a larger --quota-backend-bytes"

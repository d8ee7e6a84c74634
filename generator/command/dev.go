package command

import (
	"github.com/spf13/cobra"

	"apigen.dev/generator/internal/dev"
)

func devCommand() *cobra.Command {
	var o dev.Options
	cmd := &cobra.Command{
		Use:   "dev [PACKAGES] [-- SERVER ARGUMENTS]",
		Short: "Generate, compile and restart the server whenever a source changes",
		Long: `Dev watches the sources of the module and of modules that replace others. On each change it generates,
compiles and restarts the server on the same data. It prints one line that says what it did and how the API changed. If
the sources have errors, it prints them with file:line:col, and the old server keeps running. Ctrl-C ends both.`,
		Example: `  apigen dev
  apigen dev -- --data-dir /tmp/shop --secure-port 7443`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Patterns = args
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				o.Patterns, o.Args = args[:n], args[n:]
			}
			o.Out, o.ServerOut, o.ServerErr = cmd.ErrOrStderr(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			return dev.Run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.Main, "main", "", "run the main package in this folder (default the only one below ./cmd)")
	return cmd
}

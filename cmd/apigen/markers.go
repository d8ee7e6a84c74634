package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"apigen.dev/generator/marker"
)

func markersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "markers [NAME]",
		Short: "Explain every marker that apigen knows, or some",
		Long: `Markers explains every marker that apigen knows, or those whose name holds NAME: where it stands, what it does,
and why it has no effect, where it has none.`,
		Example: "  apigen markers printcolumn",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := strings.Join(args, "")
			text := marker.Reference(name)
			if text == "" {
				return fmt.Errorf("%w", marker.Unknown(name))
			}
			fmt.Fprint(cmd.OutOrStdout(), text)
			return nil
		},
	}
}

package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"apigen.dev/generator/internal/marker"
)

func markersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "markers [NAME]",
		Short: "Print the reference of markers",
		Long: `Markers prints every marker that apigen knows, or those whose name contains NAME: where the marker may
stand, what it does, or why it has no effect.`,
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

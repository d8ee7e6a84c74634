package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"apigen.dev/generator/internal/against"
	"apigen.dev/generator/internal/compat"
	"apigen.dev/generator/internal/folder"
	"apigen.dev/generator/internal/report"
)

type compatFlags struct {
	against, format, allow, level string
	rules                         bool
}

func compatCommand() *cobra.Command {
	var f compatFlags
	cmd := &cobra.Command{
		Use:   "compat --against REF|DIR [PACKAGES]",
		Short: "Find changes of the API that break clients or stored objects",
		Long: `Compat loads the packages (by default ./...) in their present and in an earlier state. It compares what
clients send and receive, what is stored, and what kubectl shows. Go names don't count. Each finding has a rule;
--rules lists the rules.

A break in an alpha version is a warning. To accept a break, add it to ` + compat.AllowFile + ` in the module's root,
with a reason:

  allow:
  - rule: FIELD_REMOVED
    subject: shop.example.com/v1/Widget:spec.color
    reason: never shipped

Exit status 1 means that something breaks; 2 means an error.`,
		Example: `  apigen compat --against origin/main
  apigen compat --against v1.2.0 --format github ./apis/...`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.rules {
				fmt.Fprint(cmd.OutOrStdout(), compat.Reference())
				return nil
			}
			return runCompat(cmd, f, args)
		},
	}
	cmd.Flags().StringVar(&f.against, "against", "",
		"compare with this state: a commit, branch or tag of git, or a folder")
	cmd.Flags().StringVar(&f.format, "format", "text",
		"write findings as text, as json (one object per line), or as github annotations")
	cmd.Flags().StringVar(&f.allow, "allow", "",
		"accept the findings in this file (default "+compat.AllowFile+" in the module's root, if it exists)")
	cmd.Flags().StringVar(&f.level, "level", "warn",
		"show findings of at least this level: break, warn, info (additions)")
	cmd.Flags().BoolVar(&f.rules, "rules", false, "list the rules and exit")
	return cmd
}

func runCompat(cmd *cobra.Command, f compatFlags, patterns []string) error {
	if f.against == "" {
		return errors.New("compat needs --against: a commit, branch or tag, or a folder")
	}
	level, err := compat.ParseLevel(f.level)
	if err != nil {
		return fmt.Errorf("--level: %w", err)
	}
	write, err := writerOf(f.format)
	if err != nil {
		return err
	}
	allowed, err := allowances(f.allow)
	if err != nil {
		return err
	}
	res, err := against.Compare(cmd.Context(), against.Options{Against: f.against, Patterns: patterns})
	if err != nil {
		dir, _ := os.Getwd()
		fmt.Fprintln(cmd.ErrOrStderr(), report.Describe(err, dir))
		return status(2)
	}
	if w := report.Warnings(res.Warnings, res.Dir); w != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), w)
	}
	left, idle := allowed.Filter(res.Findings)
	for _, e := range idle {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s:%d: nothing is found any more that this entry allows: %s of %s\n",
			allowed.File, e.Line, e.Rule, e.Subject)
	}
	shown := slices.DeleteFunc(slices.Clone(left), func(x compat.Finding) bool { return x.Level < level })
	printer := compat.Printer{Dir: res.Dir, OldDir: res.OldDir, Against: f.against}
	if err := write(printer, cmd.OutOrStdout(), shown); err != nil {
		return err
	}
	if slices.ContainsFunc(left, func(x compat.Finding) bool { return x.Level == compat.Break }) {
		return status(1)
	}
	return nil
}

func writerOf(format string) (func(compat.Printer, io.Writer, []compat.Finding) error, error) {
	switch format {
	case "text":
		return compat.Printer.Text, nil
	case "json":
		return compat.Printer.JSON, nil
	case "github":
		return compat.Printer.GitHub, nil
	}
	return nil, fmt.Errorf("--format %q: known are text, json, github", format)
}

func allowances(file string) (*compat.Allowances, error) {
	named := file != ""
	if !named {
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		mod := folder.Above(dir, "go.mod")
		if mod == "" {
			return nil, nil
		}
		file = filepath.Join(filepath.Dir(mod), compat.AllowFile)
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) && !named {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--allow: %w", err)
	}
	return compat.ParseAllow(file, data)
}

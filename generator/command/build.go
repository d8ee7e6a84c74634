package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/product"
	"apigen.dev/generator/internal/report"
)

func buildCommand() *cobra.Command {
	var o generator.Options
	var headerFile string
	var verbose bool
	var docs []string
	for _, e := range product.Emitters() {
		docs = append(docs, fmt.Sprintf("  %-12s %s", e.Name, e.Doc))
	}
	cmd := &cobra.Command{
		Use:   "build [PACKAGES]",
		Short: "Generate code from the types and markers of packages",
		Long: `Build loads the packages (by default ./...), generates code, checks that everything compiles, and writes
the files that changed. It prints nothing if it succeeds. Exit status 1 means that --check found stale code; 2 means an
error.

It runs these emitters, in this order:
` + strings.Join(docs, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Strict && o.Lenient {
				return errors.New("--strict makes errors of warnings, and --lenient warnings of errors: " +
					"leave one of them out")
			}
			header, err := readHeader(headerFile)
			if err != nil {
				return err
			}
			o.Patterns, o.Header, o.Cache = args, header, cacheDir()
			return build(cmd, o, verbose)
		},
	}
	cmd.Flags().BoolVar(&o.Check, "check", false,
		"write nothing; print a diff and exit with status 1 if generated code is stale, missing or left over")
	cmd.Flags().StringSliceVar(&o.Only, "only", nil, "run only these emitters, separated by commas")
	cmd.Flags().StringVar(&headerFile, "header-file", "",
		"start every generated file with the Go comments of this file")
	cmd.Flags().BoolVar(&o.Lenient, "lenient", false,
		"report faults of markers as warnings, for a first build of types that other tools were less strict about, "+
			"and sum up what is not enforced")
	cmd.Flags().BoolVar(&o.Strict, "strict", false,
		"report warnings as errors, so that nothing is lost without a word: for CI")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false,
		"list the written files, what CustomResourceDefinitions can't express, and what conversions change or lose")
	return cmd
}

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "apigen")
}

func build(cmd *cobra.Command, o generator.Options, verbose bool) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	line := newProgress(os.Stderr)
	o.Progress = line.stage
	res, err := generator.Build(cmd.Context(), o)
	line.end()
	if err != nil {
		fmt.Fprintln(stderr, report.Describe(err, dir))
		if hint := report.Adoption(err); hint != "" {
			fmt.Fprintln(stderr, hint)
		}
		return status(2)
	}
	if w := report.Warnings(res.Warnings, dir); w != "" {
		fmt.Fprintln(stderr, w)
	}
	if o.Lenient {
		if u := report.Unenforced(res.Warnings, dir, verbose); u != "" {
			fmt.Fprintln(stderr, u)
		}
	}
	for _, n := range res.Notes {
		fmt.Fprintln(stderr, n)
	}
	if o.Check {
		return reportStale(cmd.OutOrStdout(), res, dir)
	}
	if verbose {
		reportWritten(stderr, res, dir)
	} else if n := len(res.Remarks); n > 0 && len(res.Changes) > 0 {
		fmt.Fprintf(stderr,
			"CustomResourceDefinitions can't express what the server does in %d places: see apigen build -v\n", n)
	}
	return nil
}

func reportStale(out io.Writer, res *generator.Result, dir string) error {
	for _, c := range res.Changes {
		fmt.Fprint(out, c.Diff(dir))
	}
	if len(res.Changes) > 0 {
		return status(1)
	}
	return nil
}

func reportWritten(out io.Writer, res *generator.Result, dir string) {
	if r := report.Remarks(res.Remarks, dir); r != "" {
		fmt.Fprintln(out, r)
	}
	for _, c := range res.Changes {
		fmt.Fprintln(out, c.Summary(dir))
	}
	switch {
	case res.Unchanged:
		fmt.Fprintln(out, "nothing changed since the last build")
	case len(res.Changes) == 0:
		fmt.Fprintf(out, "all %d files are up to date\n", res.Files)
	}
	for _, line := range res.Losses {
		fmt.Fprintln(out, line)
	}
}

package generator

import (
	"context"
	"errors"
	"fmt"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/verify"
)

// Describe is an error as users read it: one line for each fault, sorted by position, with paths relative to a folder.
func Describe(err error, dir string) string {
	dir = resolved(dir)
	var bug verify.Bug
	var list diag.Errors
	switch {
	case errors.As(err, &bug):
		return verify.Bug{Errors: relativeTo(bug.Errors, dir)}.Error()
	case errors.As(err, &list):
		return relativeTo(list, dir).Error()
	case errors.Is(err, context.Canceled):
		return "interrupted: nothing was written"
	}
	return err.Error()
}

// Adoption is what to say to those whose build failed of markers that other tools are less strict about: where these
// have generated code beside them, and apigen has not.
func Adoption(err error) string {
	var list diag.Errors
	if !errors.As(err, &list) {
		return ""
	}
	lenient := 0
	for _, e := range list {
		if !e.Lenient {
			continue
		}
		if ours, others := generatedBeside(e.Pos.Filename); ours || !others {
			return ""
		}
		lenient++
	}
	switch {
	case lenient == 0:
		return ""
	case lenient == len(list):
		return "with --lenient these are warnings, and what the markers ask for is left out: a first build of types " +
			"that other tools read"
	default:
		return fmt.Sprintf("with --lenient %d of these are warnings, and what their markers ask for is left out: a "+
			"first build of types that other tools read", lenient)
	}
}

// DescribeWarnings is the same for warnings.
func DescribeWarnings(w diag.Errors, dir string) string { return describeAs("warning: ", w, dir) }

// DescribeRemarks is the same for remarks.
func DescribeRemarks(r diag.Errors, dir string) string { return describeAs("remark: ", r, dir) }

func describeAs(prefix string, list diag.Errors, dir string) string {
	if len(list) == 0 {
		return ""
	}
	var out []string
	for _, line := range strings.Split(Describe(list, dir), "\n") {
		if !strings.HasPrefix(line, "\t") { // the rest of what was said in the line before
			line = prefix + line
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func relativeTo(list diag.Errors, dir string) diag.Errors {
	out := make(diag.Errors, len(list))
	for i, e := range list {
		if e.Pos.Filename != "" {
			e.Pos.Filename = filepath.FromSlash(relative(dir, e.Pos.Filename))
		}
		if e.Pos.Line == 0 && e.Pos.Filename != "" {
			e.Message, e.Pos.Filename = fmt.Sprintf("%s: %s", e.Pos.Filename, e.Message), ""
		}
		out[i] = e
	}
	return out
}

// ReadHeader reads the text of --header-file and makes sure that it is comments.
func ReadHeader(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("--header-file: %w", err)
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
	if err := onlyComments(text); err != nil {
		return "", fmt.Errorf("--header-file %s: %w", path, err)
	}
	return text, nil
}

func onlyComments(text string) error {
	if text == "" {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", text+"\n\npackage p\n", parser.ParseComments)
	if err != nil || f.Name.Name != "p" || len(f.Comments) == 0 {
		return errors.New("it must hold Go comments and nothing else")
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if constraint.IsGoBuild(c.Text) || constraint.IsPlusBuild(c.Text) {
				return errors.New("it must not hold a build constraint: " + c.Text)
			}
		}
	}
	return nil
}

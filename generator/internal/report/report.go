// Package report makes the text that users read of what a build found: errors, warnings and remarks.
package report

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/folder"
	"apigen.dev/generator/internal/output"
	"apigen.dev/generator/internal/verify"
)

// Describe is an error as users read it: one line for each fault, sorted by position, with paths relative to a folder.
func Describe(err error, dir string) string {
	dir = folder.Resolved(dir)
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
		if ours, others := output.GeneratedBeside(e.Pos.Filename); ours || !others {
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

// Warnings is the same for warnings.
func Warnings(w diag.Errors, dir string) string { return describeAs("warning: ", w, dir) }

// Remarks is the same for remarks.
func Remarks(r diag.Errors, dir string) string { return describeAs("remark: ", r, dir) }

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
			e.Pos.Filename = filepath.FromSlash(folder.Relative(dir, e.Pos.Filename))
		}
		if e.Pos.Line == 0 && e.Pos.Filename != "" {
			e.Message, e.Pos.Filename = fmt.Sprintf("%s: %s", e.Pos.Filename, e.Message), ""
		}
		out[i] = e
	}
	return out
}

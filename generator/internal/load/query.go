package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"apigen.dev/generator/internal/diag"
)

// list asks the go command for packages. The error is diag.Errors where the question is at fault.
func (u *Universe) list(ctx context.Context, mode packages.LoadMode, patterns []string) ([]*packages.Package, error) {
	cfg := &packages.Config{Context: ctx, Mode: mode, Dir: u.options.Dir, Env: u.options.Env}
	args := make([]string, len(patterns))
	for i, p := range patterns {
		args[i] = "pattern=" + p
	}
	pkgs, err := packages.Load(cfg, args...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, diag.Errors{{Message: explain(err.Error())}}
	}
	if !slices.ContainsFunc(pkgs, func(p *packages.Package) bool { return p.Dir != "" || p.Name != "" }) {
		if said := u.goListError(ctx, mode, patterns); said != "" {
			return nil, diag.Errors{{Message: said}}
		}
		if len(pkgs) == 0 && !slices.ContainsFunc(patterns, wildcard) {
			return nil, diag.Errors{{Message: "no package matches " + strings.Join(patterns, " ")}}
		}
	}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		if p.Dir == "" && len(p.Errors) > 0 {
			p.GoFiles = nil // of a package that isn't there, go/packages lists the file that imports it
		}
	})
	return pkgs, nil
}

// goListError returns why the go command fails at patterns for which go/packages has no answer and no error, such as at
// a go.mod that is not up to date. It is empty if the go command doesn't fail.
func (u *Universe) goListError(ctx context.Context, mode packages.LoadMode, patterns []string) string {
	args := []string{"list", "-e", "-deps"}
	if mode&packages.NeedExportFile != 0 {
		args = append(args, "-export") // what is only listed needs no compiler and no cache
	}
	cmd := exec.CommandContext(ctx, "go", slices.Concat(args, []string{"--"}, patterns)...)
	cmd.Dir, cmd.Env = u.options.Dir, u.options.Env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	if err == nil {
		return ""
	}
	if said := explain(stderr.String()); said != "" {
		return said
	}
	return "go " + strings.Join(args, " ") + ": " + err.Error()
}

func explain(message string) string {
	for _, noise := range []string{"err: ", "exit status 1: stderr: ", "exit status 2: stderr: ", "go: "} {
		message = strings.TrimSpace(strings.TrimPrefix(message, noise))
	}
	message = oneLine(brief(message))
	switch {
	case strings.Contains(message, "does not contain modules listed in go.work"):
		return message + ": run apigen in the folder of one of them, or name them: apigen build ./<folder>/..."
	case strings.HasPrefix(message, "go command required, not found"):
		return "apigen asks the go command about packages, and it isn't in the PATH: install Go, or add its folder " +
			"bin to the PATH"
	}
	if strings.Contains(message, "does not contain main module") || strings.Contains(message,
		"cannot find main module") {
		message += ": run apigen in the folder of a go.mod, or below"
	}
	for _, said := range []string{"no space left on device", "read-only file system", "failed to initialize build " +
		"cache"} {
		if strings.Contains(message, said) {
			return message + ": the go command must be able to write to its cache and to the folder for temporary " +
				"files (GOCACHE, GOTMPDIR)"
		}
	}
	return message
}

// brief shortens the list of modules that a vendor folder is inconsistent with, and keeps the advice behind the list.
func brief(message string) string {
	const few = 3
	modules, remedy, _ := strings.Cut(message, "\n\n")
	lines := strings.Split(modules, "\n")
	if !strings.HasPrefix(message, "inconsistent vendoring") || len(lines) <= few+2 {
		return message
	}
	return fmt.Sprintf("%s\nand %d more\n%s", strings.Join(lines[:few+1], "\n"), len(lines)-few-1, remedy)
}

func listError(p *packages.Package) error {
	if p == nil {
		return errors.New("no such package")
	}
	for _, e := range p.Errors {
		return errors.New(oneLine(e.Msg))
	}
	return fmt.Errorf("package %s has no Go files", p.PkgPath)
}

func oneLine(message string) string {
	return strings.Join(strings.FieldsFunc(message, func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

var (
	mixedPattern = regexp.MustCompile(`^found packages (\S+) \((.+?)\) and (\S+) \((.+?)\) in (.+)$`)
	nulPattern   = regexp.MustCompile(`^read (.+\.go): (unexpected NUL in input)$`)
)

// explainPlace finds where to mend what the go command says of a package without a position.
func explainPlace(p *packages.Package, message string) (token.Position, string) {
	if m := mixedPattern.FindStringSubmatch(message); m != nil {
		return clauseOf(filepath.Join(m[5], m[4])), fmt.Sprintf("package %s, but %s beside it is of package %s: a "+
			"folder holds one package", m[3], m[2], m[1])
	}
	if m := nulPattern.FindStringSubmatch(message); m != nil {
		name := m[1]
		if !filepath.IsAbs(name) && p.Dir != "" {
			name = filepath.Join(p.Dir, filepath.Base(name))
		}
		data, _ := os.ReadFile(name)
		before, _, _ := bytes.Cut(data, []byte{0})
		line := bytes.Count(before, []byte{'\n'}) + 1
		return token.Position{Filename: name, Offset: len(before), Line: line,
			Column: len(before) - bytes.LastIndexByte(before, '\n')}, m[2]
	}
	return token.Position{}, message
}

func clauseOf(name string) token.Position {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, nil, parser.PackageClauseOnly)
	if err != nil {
		return token.Position{Filename: name, Line: 1, Column: 1}
	}
	return fset.Position(f.Name.Pos())
}

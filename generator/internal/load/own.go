package load

import (
	"context"
	"errors"
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"

	"apigen.dev/generator/internal/folder"
)

// listNames lists packages with their names and files.
func (u *Universe) listNames(ctx context.Context, patterns []string) ([]*packages.Package, error) {
	if pkgs, ok := u.listOwn(ctx, patterns); ok {
		return pkgs, nil
	}
	return u.list(ctx, listMode, patterns)
}

// listOwn lists packages of the user's own module in a tenth of the time that list takes. The go command looks at all
// packages that those of a pattern reach before it answers, also if it is asked for their names and files alone.
// Here it is shown a go.mod that requires nothing. Whenever something is not as it should be, listOwn reports false:
// list then has the go command say what it is. It says nothing of what the module requires: see explainImports.
func (u *Universe) listOwn(ctx context.Context, patterns []string) ([]*packages.Package, bool) {
	importPath := func(pattern string) bool { return !isFolder(pattern) }
	if !u.inOneModule() || slices.ContainsFunc(patterns, importPath) {
		return nil, false
	}
	root := moduleRoot(u.options.Dir)
	bare, err := bareModule(root)
	if err != nil {
		return nil, false
	}
	dir, err := os.MkdirTemp("", "apigen")
	if err != nil {
		return nil, false
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left is in the folder for temporary files
	name := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(name, bare, 0o600); err != nil {
		return nil, false
	}
	pkgs, err := packages.Load(&packages.Config{
		Context: ctx, Mode: listMode, Dir: u.options.Dir, Env: u.options.Env,
		BuildFlags: []string{"-mod=readonly", "-modfile=" + name},
	}, patterns...)
	if err != nil || len(pkgs) == 0 {
		return nil, false
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 || p.Dir == "" || !own(p) || p.Module.Error != nil {
			return nil, false
		}
		p.Module.GoMod = filepath.Join(root, "go.mod")
	}
	return pkgs, true
}

// inOneModule reports whether a go.mod alone decides what the user's own packages are.
func (u *Universe) inOneModule() bool {
	env := u.environment()
	if redirected(env) {
		return false
	}
	dir, err := filepath.Abs(u.options.Dir)
	return err == nil && moduleRoot(dir) != "" &&
		(env["GOWORK"] == "off" || env["GOWORK"] == "" && folder.Above(dir, "go.work") == "")
}

// environment returns the variables of the go command.
func (u *Universe) environment() map[string]string {
	env := map[string]string{}
	for _, e := range u.options.Env {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	return env
}

// redirected reports whether something else than the go command and the files in their folders answers about packages.
func redirected(env map[string]string) bool {
	flags, driver := env["GOFLAGS"], env["GOPACKAGESDRIVER"]
	return driver != "" && driver != "off" || strings.Contains(flags, "-overlay") || strings.Contains(flags, "-modfile")
}

// isFolder reports whether a pattern names folders, and not import paths.
func isFolder(pattern string) bool { return build.IsLocalImport(pattern) || filepath.IsAbs(pattern) }

// bareModule returns the go.mod in a folder without all that is about other modules.
func bareModule(dir string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	f, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	f.SetRequire(nil)
	var failed []error
	for _, r := range slices.Clone(f.Replace) {
		failed = append(failed, f.DropReplace(r.Old.Path, r.Old.Version))
	}
	for _, e := range slices.Clone(f.Exclude) {
		failed = append(failed, f.DropExclude(e.Mod.Path, e.Mod.Version))
	}
	for _, t := range slices.Clone(f.Tool) {
		failed = append(failed, f.DropTool(t.Path))
	}
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	f.Cleanup()
	return f.Format()
}

// explainImports has the go command say what is wrong with what the user's module requires, such as a go.mod that isn't
// up to date, if an import can't be listed. It says so of the importing packages, which listOwn didn't ask for.
func (u *Universe) explainImports(ctx context.Context, imported []*packages.Package) error {
	if !slices.ContainsFunc(imported, func(p *packages.Package) bool { return len(p.Errors) > 0 }) {
		return nil
	}
	_, err := u.list(ctx, listMode, u.options.Patterns)
	return err
}

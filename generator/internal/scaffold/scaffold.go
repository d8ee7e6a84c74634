// Package scaffold is `apigen init`: it writes a new project, adds a group, a version or a kind to one, or has the
// types of a project that was made otherwise, or of another module, served as they are. It also writes the files that
// run the server of a project behind a cluster. It never changes a file that exists, but for the one that follows from
// the types. It knows package templates and the model, and nothing else of the generator.
package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// Result tells what was done; paths are relative to the project's directory, with slashes.
type Result struct {
	Created []string
	// folders are those that were made for the files, each behind those above it.
	folders []string
	// Took says which group and version of the project a kind was added to, as far as the options don't name them.
	Took string
	// Kept are files that would have been written, and existed.
	Kept []string
	// NewProject reports whether the module's requirements are still to be resolved.
	NewProject bool
	// Adopted are the folders of API packages that the project had, and that are served from where they are. What the
	// module is to require is left to its owner.
	Adopted []string
	// Serving are the import paths of packages of other modules that the project serves. Its module must require
	// theirs.
	Serving []string
}

// file is a file to write, from a template or, where that has no name, as it is.
type file struct {
	path, template string
	content        []byte
}

var projectFiles = []file{
	{path: "go.mod", template: "project/go.mod.tmpl"},
	{path: "cmd/{{.Name}}/main.go", template: "project/main.go.tmpl"},
	{path: "{{.Base}}/apis.go", template: collectorTemplate},
	{path: "Makefile", template: "project/Makefile.tmpl"},
	{path: "README.md", template: "project/README.md.tmpl"},
	{path: ".gitignore", template: "project/gitignore.tmpl"},
	{path: ".github/workflows/ci.yaml", template: "project/ci.yaml.tmpl"},
}

// collecting is the package that collects the groups. Base is its folder, above those of the groups, Package its name;
// Alias: the two differ.
type collecting struct {
	Base, Package string
	Alias         bool
}

func collectingIn(base string) collecting {
	name := packageName(path.Base(base))
	return collecting{Base: base, Package: name, Alias: name != path.Base(base)}
}

// projectValues are what the files of a project are written from.
type projectValues struct {
	Options
	collecting
	Name string // the last element of the module's path
	// Pad aligns a comment in the README with the one above it.
	Pad string
	// Standalone: the server has the ready-made features of the runtime.
	Standalone bool
}

// readyMade are the packages whose kinds are among the ready-made features. A server can't have their groups twice.
var readyMade = []string{
	"k8s.io/api/authentication/v1", "k8s.io/api/authorization/v1", "k8s.io/api/coordination/v1", "k8s.io/api/core/v1",
	"k8s.io/api/events/v1", "k8s.io/api/rbac/v1",
}

// newProject returns the values of a project that serves packages of other modules.
func newProject(options Options, base string, serving []string) projectValues {
	p := projectValues{Options: options, collecting: collectingIn(base), Name: projectName(options.Module)}
	p.Standalone = !slices.ContainsFunc(serving, func(path string) bool { return slices.Contains(readyMade, path) })
	p.Pad = strings.Repeat(" ", max(0, len("go generate ./...")-len("go run ./cmd/")-len(p.Name)+7))
	return p
}

// Init writes what is missing. It fails, having written nothing, where the options are no good.
func Init(options Options) (*Result, error) {
	existing, err := moduleIn(options.Dir)
	if err != nil {
		return nil, err
	}
	if existing != "" {
		if options.Module != "" && options.Module != existing {
			return nil, fmt.Errorf("%s is module %s, not %s: leave --module out to add to it",
				options.Dir, existing, options.Module)
		}
		options.Module = existing
	}
	if len(options.Serve) > 0 {
		return serveMore(options)
	}
	if options.From != "" {
		return copyVersion(options)
	}
	if existing != "" {
		if adopted, err := adoptable(options); adopted != nil || err != nil {
			return adopted, err
		}
	}
	took, err := place(&options)
	if err != nil {
		return nil, err
	}
	if err := options.check(); err != nil {
		return nil, err
	}
	v, files, err := plan(options)
	if err != nil {
		return nil, err
	}
	result, err := write(options.Dir, v, files)
	if result != nil {
		result.Took = took
	}
	return result, err
}

// collector is the package that collects the groups. A project has it, whatever else was moved or removed since;
// without it nothing that is added would be served.
const (
	collector         = "apis/apis.go"
	collectorTemplate = "project/apis.go.tmpl"
)

// moduleIn returns the path of the module in dir; "" if there is none.
func moduleIn(dir string) (string, error) {
	content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	name := modfile.ModulePath(content)
	if name == "" {
		return "", fmt.Errorf("%s names no module", filepath.Join(dir, "go.mod"))
	}
	return name, nil
}

// ProjectName returns the name of the project in a folder, by which its server is called; empty if there is no
// module.
func ProjectName(dir string) string {
	name, err := moduleIn(dir)
	if err != nil || name == "" {
		return ""
	}
	return projectName(name)
}

func projectName(modulePath string) string {
	prefix, _, ok := module.SplitPathVersion(modulePath)
	if !ok {
		prefix = modulePath
	}
	return path.Base(prefix)
}

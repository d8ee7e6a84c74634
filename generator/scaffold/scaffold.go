// Package scaffold is `apigen init`: it writes a new project, adds a group, a version or a kind to one, or has the
// types of a project that was made otherwise, or of another module, served as they are. It never changes a file that
// exists. It knows package templates and the model, and nothing else of the generator.
package scaffold

import (
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"apigen.dev/generator/model"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Options say what to write.
type Options struct {
	// Dir is the project's directory; it is made where it does not exist.
	Dir string
	// Module is the path of a new project's module; of an existing one it is taken from go.mod.
	Module string
	// Group (shop.example.com), Version (v1) and Kind (Widget) name the kind to write.
	Group, Version, Kind string
	ClusterScoped        bool
	// Serve are import paths of packages of other modules. Their kinds are served, and no kind is written.
	Serve []string
	// From is a version of Kind, whose types become those of Version.
	From string
	// ApigenVersion is the version of apigen.dev to require. Replace, where not empty, is the directory of a checkout
	// that stands in for it.
	ApigenVersion, Replace string
	// GoVersion is the go directive of a new go.mod: 1.26.0.
	GoVersion string
}

// Result tells what was done; paths are relative to the project's directory, with slashes.
type Result struct {
	Created []string
	// Kept are files that would have been written, and existed.
	Kept []string
	// NewProject tells that the module's requirements are still to be resolved.
	NewProject bool
	// Adopted are the folders of API packages that the project had, and that are served from where they are. What the
	// module is to require is left to its owner.
	Adopted []string
	// Serving are the import paths of packages of other modules that the project serves. Its module must require
	// theirs.
	Serving []string
}

// named tells whether the options name a kind.
func (o Options) named() bool { return o.Group != "" || o.Version != "" || o.Kind != "" }

type file struct{ path, template string }

var projectFiles = []file{
	{"go.mod", "project/go.mod.tmpl"},
	{"cmd/{{.Name}}/main.go", "project/main.go.tmpl"},
	{"{{.Base}}/apis.go", collectorTemplate},
	{"Makefile", "project/Makefile.tmpl"},
	{"README.md", "project/README.md.tmpl"},
	{".gitignore", "project/gitignore.tmpl"},
	{".github/workflows/ci.yaml", "project/ci.yaml.tmpl"},
}

// projectValues are what the files of a project are written from.
type projectValues struct {
	Options
	Name string // the last element of the module's path
	// Base is the folder above those of the groups, Package the name of the package there; Alias: they differ.
	Base, Package string
	Alias         bool
	// Pad aligns a comment in the README with the one above it.
	Pad string
}

func newProject(options Options, base string) projectValues {
	p := projectValues{
		Options: options, Name: projectName(options.Module), Base: base, Package: packageName(path.Base(base)),
	}
	p.Alias = p.Package != path.Base(base)
	p.Pad = strings.Repeat(" ", max(0, len("go generate ./...")-len("go run ./cmd/")-len(p.Name)+7))
	return p
}

type values struct {
	projectValues
	GroupDir string // shop
	Plural   string
	Singular string
	// First: this is the first version of the kind, which becomes the storage version.
	First bool
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
	if err := options.check(); err != nil {
		return nil, err
	}
	v, files, err := plan(options)
	if err != nil {
		return nil, err
	}
	return write(options.Dir, v, files)
}

// collector is the package that collects the groups. A project has it, whatever else was moved or removed since;
// without it nothing that is added would be served.
const (
	collector         = "apis/apis.go"
	collectorTemplate = "project/apis.go.tmpl"
)

func plan(options Options) (values, []file, error) {
	v := values{
		projectValues: newProject(options, path.Dir(collector)),
		GroupDir:      groupDir(options.Group),
		Plural:        model.KubebuilderPlural(options.Kind),
		Singular:      strings.ToLower(options.Kind),
	}
	if err := checkGroup(options.Dir, v.GroupDir, options.Group); err != nil {
		return v, nil, err
	}
	found, err := findKind(options.Dir, v.GroupDir, options.Kind)
	if err != nil {
		return v, nil, err
	}
	if found[options.Version] != "" {
		return v, nil, fmt.Errorf("kind %s is in version %s already: %s", options.Kind, options.Version,
			found[options.Version])
	}
	v.First = len(found) == 0
	for _, where := range found {
		// Another version of a kind lives where the kind lives.
		clusterScoped, err := isClusterScoped(where, options.Kind)
		if err != nil {
			return v, nil, err
		}
		v.ClusterScoped = v.ClusterScoped || clusterScoped
	}
	var files []file
	if !exists(filepath.Join(options.Dir, filepath.FromSlash(collector))) {
		files = append(files, projectFiles...)
	}
	return v, append(files, kindFiles(options, v)...), nil
}

// kindFiles returns a kind's. The first kind of a version is in types.go, others in files of their own; logic stands
// beside the first version of a kind, which is its hub.
func kindFiles(options Options, v values) []file {
	dir := "apis/{{.GroupDir}}/{{.Version}}/"
	types := dir + "types.go"
	if exists(filepath.Join(options.Dir, "apis", v.GroupDir, options.Version, "types.go")) {
		types = dir + "{{.Singular}}_types.go"
	}
	sample := "config/samples/{{.Singular}}.yaml"
	if !v.First {
		sample = "config/samples/{{.Singular}}.{{.Version}}.yaml"
	}
	files := []file{{dir + "doc.go", "version/doc.go.tmpl"}, {types, "kind/types.go.tmpl"},
		{sample, "kind/sample.yaml.tmpl"}}
	if v.First {
		files = append(files, file{dir + "{{.Singular}}_strategy.go", "kind/strategy.go.tmpl"})
	}
	return files
}

// checkGroup fails where the group's directory belongs to another group, whose first label is the same.
func checkGroup(dir, groupDir, group string) error {
	docs, err := filepath.Glob(filepath.Join(dir, "apis", groupDir, "*", "doc.go"))
	if err != nil {
		return err
	}
	marker := regexp.MustCompile(`(?m)^//\s*\+groupName=(\S*)`)
	for _, doc := range docs {
		content, err := os.ReadFile(doc)
		if err != nil {
			return err
		}
		if match := marker.FindSubmatch(content); match != nil && string(match[1]) != group {
			return fmt.Errorf("--group %q: apis/%s belongs to group %s (%s)", group, groupDir, match[1], doc)
		}
	}
	return nil
}

func findKind(dir, group, kind string) (map[string]string, error) {
	sources, err := filepath.Glob(filepath.Join(dir, "apis", group, "*", "*.go"))
	if err != nil {
		return nil, err
	}
	declaration := regexp.MustCompile(`(?m)^type ` + kind + ` struct\b`)
	found := map[string]string{}
	for _, source := range sources {
		content, err := os.ReadFile(source)
		if err != nil {
			return nil, err
		}
		if declaration.Match(content) {
			found[filepath.Base(filepath.Dir(source))] = source
		}
	}
	return found, nil
}

func isClusterScoped(source, kind string) (bool, error) {
	content, err := os.ReadFile(source)
	if err != nil {
		return false, err
	}
	text := string(content)
	if at := regexp.MustCompile(`(?m)^type ` + kind + ` struct\b`).FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	if at := strings.LastIndex(text, "\n}\n"); at >= 0 {
		text = text[at:] // what stands above belongs to another type
	}
	return strings.Contains(text, "scope=Cluster") || strings.Contains(text, "+genclient:nonNamespaced"), nil
}

// moduleIn returns the path of the module in dir; "" where there is none.
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

func (o Options) checkModule() error {
	if o.Module == "" {
		return errors.New("--module is missing: the path of the new module, example.com/shop")
	}
	if err := module.CheckImportPath(o.Module); err != nil {
		return fmt.Errorf("--module %q: %w", o.Module, err)
	}
	return nil
}

func (o Options) check() error {
	errs := []error{o.checkModule()}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Group == "" {
		bad("--group is missing: the API group of the kind, shop.example.com")
	} else if messages := validation.IsDNS1123Subdomain(o.Group); len(messages) > 0 {
		bad("--group %q is no API group like shop.example.com: %s", o.Group, strings.Join(messages, "; "))
	} else if dir := groupDir(o.Group); dir == "wiring" {
		bad("--group %q: the directory apis/%s is taken by generated code", o.Group, dir)
	}
	if o.Version == "" {
		bad("--version is missing: v1, v1beta2 or v2alpha1")
	} else if !model.IsVersion(o.Version) {
		bad("--version %q is no API version like v1, v1beta2 or v2alpha1", o.Version)
	}
	if o.Kind == "" {
		bad("--kind is missing: an exported Go name in singular, Widget")
	} else if !kindPattern.MatchString(o.Kind) {
		bad("--kind %q is no kind: an exported Go name in singular, like Widget", o.Kind)
	} else if strings.HasSuffix(o.Kind, "List") || strings.HasSuffix(o.Kind, "Spec") || strings.HasSuffix(o.Kind,
		"Status") {
		bad("--kind %q: names that end in List, Spec or Status are those of a kind's parts", o.Kind)
	} else if messages := validation.IsDNS1035Label(strings.ToLower(o.Kind)); len(messages) > 0 {
		bad("--kind %q: %s", o.Kind, strings.Join(messages, "; "))
	}
	return errors.Join(errs...)
}

var kindPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

func groupDir(group string) string {
	label, _, _ := strings.Cut(group, ".")
	dir := strings.ReplaceAll(label, "-", "")
	if dir == "" || token.IsKeyword(dir) || dir[0] >= '0' && dir[0] <= '9' {
		dir = "g" + dir
	}
	return dir
}

// ProjectName returns the name of the project in a folder, by which its server is called; empty where there is no
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

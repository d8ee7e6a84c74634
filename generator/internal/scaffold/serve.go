package scaffold

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// serve writes what is missing to serve the packages of other modules that a project names: everything but the
// packages that name them.
func serve(options Options, found apiFolders) (*Result, error) {
	base := found.collector
	if base == "" {
		var err error
		if base, err = servingBase(options.Dir, found); err != nil {
			return nil, err
		}
	}
	if err := options.checkModule(); err != nil {
		return nil, err
	}
	files := slices.DeleteFunc(slices.Clone(projectFiles), func(f file) bool {
		return f.template == collectorTemplate && found.collector != ""
	})
	for i := range files {
		if files[i].path == "README.md" {
			files[i].template = "serve/README.md.tmpl"
		}
	}
	serving := slices.AppendSeq(slices.Clone(options.Serve), maps.Keys(found.serving))
	result, err := write(options.Dir, newProject(options, base, serving), files)
	if result != nil {
		result.NewProject = len(result.Created) > 0
		result.Serving = slices.Sorted(maps.Keys(found.serving))
	}
	return result, err
}

// servingBase returns the folder for the package that collects the groups: apis, as in every new project, where the
// packages are below it.
func servingBase(dir string, found apiFolders) (string, error) {
	folders := slices.Collect(maps.Values(found.serving))
	base := path.Dir(collector)
	outside := func(folder string) bool { return !strings.HasPrefix(folder, base+"/") }
	if !slices.ContainsFunc(folders, outside) {
		return base, nil
	}
	return collectorDir(dir, folders)
}

// serveMore prepares a project for the packages that the options name. Their own packages need to be read first: Serve
// writes those.
func serveMore(options Options) (*Result, error) {
	if options.named() || options.ClusterScoped {
		return nil, fmt.Errorf("--serve takes the kinds of another module: leave --group, --version, --kind and " +
			"--cluster-scoped out")
	}
	found, err := apiPackages(options.Dir)
	if err != nil {
		return nil, err
	}
	if found.collector == "" && len(found.own) > 0 {
		return nil, fmt.Errorf("%s has API packages, %s, and no server yet: run apigen init without --serve first",
			options.Dir, found.own[0])
	}
	result := &Result{}
	if found.collector == "" || len(found.own) == 0 {
		if result, err = serve(options, found); err != nil {
			return result, err
		}
	}
	for _, served := range options.Serve {
		if !slices.Contains(result.Serving, served) {
			result.Serving = append(result.Serving, served)
		}
	}
	return result, nil
}

// Serves returns the folder in which a project serves a package already; empty if it doesn't.
func Serves(dir, importPath string) (string, error) {
	found, err := apiPackages(dir)
	return found.serving[importPath], err
}

// served is what the package that serves another one is written from.
type served struct {
	Version, Path string
	// Of is the group, as a sentence names it.
	Of string
	// Group is the group if a marker is needed to name it, for the package's own names another one; else "".
	Group string
	// KindLists are the names of the kinds, as many for each marker as fit on a line.
	KindLists []string
	Kinds     []servedKind
}

// servedKind is a kind with the markers that it is served with, and notes about those that only its author can write.
type servedKind struct {
	Name           string
	Markers, Notes []string
}

// Serve writes the package that serves a package of another module, into the folder of its group and version. If that
// has another package of the version, it is <group>/trials/v1beta1, for a package .../trials/v1beta1.
func Serve(dir string, p *model.Package) (*Result, error) {
	found, err := apiPackages(dir)
	if err != nil {
		return nil, err
	}
	base, group := found.collector, "core"
	if base == "" {
		base = path.Dir(collector)
	}
	v := served{Version: p.Version, Path: p.Path, Of: "the core group"}
	if p.OtherGroupMarked {
		v.Group = p.Group
	}
	if p.Group != "" {
		v.Of, group = "group "+p.Group, groupDir(p.Group)
	}
	folder, err := unusedFolder(dir, path.Join(base, group, p.Version),
		path.Join(base, group, path.Base(path.Dir(p.Path)), p.Version))
	if err != nil {
		return nil, fmt.Errorf("%w: write a package with the marker +apigen:serve=%s elsewhere", err, p.Path)
	}
	var names []string
	for _, t := range p.Types {
		if t.Kind != nil && t.Kind.Served {
			names = append(names, t.Name)
			v.Kinds = append(v.Kinds, servedKindOf(t))
		}
	}
	v.KindLists = lists(names)
	return write(dir, v, []file{{path: folder + "/doc.go", template: "serve/doc.go.tmpl"}})
}

// unusedFolder returns the first of the folders below dir that has no package yet: a package serves one other.
func unusedFolder(dir string, folders ...string) (string, error) {
	for _, folder := range folders {
		sources, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(folder), "*.go"))
		if err != nil {
			return "", err
		}
		if len(sources) == 0 {
			return folder, nil
		}
	}
	return "", fmt.Errorf("%s are packages already, and one package serves one other", strings.Join(folders, " and "))
}

// lists joins names with semicolons, as many as fit on a line with the marker in front.
func lists(names []string) []string {
	const most = 120 - len("// +apigen:serve:kinds=")
	var out []string
	for _, name := range names {
		if last := len(out) - 1; last >= 0 && len(out[last])+1+len(name) <= most {
			out[last] += ";" + name
		} else {
			out = append(out, name)
		}
	}
	return out
}

// servedKindOf decides the markers of a kind by what its own say. A kind without columns gets the age, which others can
// be written beside. Its clients tell the subresources, and not what these do.
func servedKindOf(t *model.Type) servedKind {
	k := servedKind{Name: t.Name}
	if len(t.Kind.Columns) == 0 {
		k.Markers = []string{"+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp"}
	}
	if t.Kind.Client == nil {
		return k
	}
	seen := map[string]bool{"": true, "status": true}
	for _, m := range t.Kind.Client.Methods {
		if seen[m.Subresource] {
			continue
		}
		seen[m.Subresource] = true
		marker := "+apigen:subresource:name=" + m.Subresource
		if m.Subresource == "scale" {
			marker = "+kubebuilder:subresource:scale"
		}
		k.Notes = append(k.Notes, fmt.Sprintf("Clients of %s use the subresource %s, which `%s` serves.", t.Name,
			m.Subresource, marker))
	}
	return k
}

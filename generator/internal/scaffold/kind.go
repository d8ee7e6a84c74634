package scaffold

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"apigen.dev/generator/internal/model"
)

// values are what the files of a kind are written from.
type values struct {
	projectValues
	GroupDir string // shop
	Plural   string
	Singular string
	// First: this is the first version of the kind, which becomes the storage version.
	First bool
}

func plan(options Options) (values, []file, error) {
	v := values{
		projectValues: newProject(options, path.Dir(collector), nil),
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
	if options.Types != nil {
		return []file{{path: dir + "doc.go", template: "version/doc.go.tmpl"}, {path: types, content: options.Types}}
	}
	sample := "config/samples/{{.Singular}}.yaml"
	if !v.First {
		sample = "config/samples/{{.Singular}}.{{.Version}}.yaml"
	}
	files := []file{{path: dir + "doc.go", template: "version/doc.go.tmpl"},
		{path: types, template: "kind/types.go.tmpl"}, {path: sample, template: "kind/sample.yaml.tmpl"}}
	if v.First {
		files = append(files, file{path: dir + "{{.Singular}}_strategy.go", template: "kind/strategy.go.tmpl"})
	}
	return files
}

// checkGroup fails where the group's directory belongs to another group, whose first label is the same.
func checkGroup(dir, groupDir, group string) error {
	docs, err := filepath.Glob(filepath.Join(dir, "apis", groupDir, "*", "doc.go"))
	if err != nil {
		return err
	}
	for _, doc := range docs {
		content, err := os.ReadFile(doc)
		if err != nil {
			return err
		}
		if match := groupMarker.FindSubmatch(content); match != nil && string(match[1]) != group {
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

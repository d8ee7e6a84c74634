package scaffold

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// copied is a version of a kind that becomes another one.
type copied struct {
	Options
	// folder has the package of the version, target that of the new one; from its source.
	folder, target string
	from, there    *source
	taken          map[*declaration]bool
	// Hub is the name of the package that versions convert to, HubPath its import path, and HubName its part of the
	// names of conversions. Alias: the package isn't called like its folder.
	Hub, HubPath, HubName string
	Alias                 bool
	// Structs are those whose conversions are written out.
	Structs []string
}

// copyVersion writes the types of a version once more, for another version.
func copyVersion(options Options) (*Result, error) {
	c := &copied{Options: options}
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := c.find(); err != nil {
		return nil, err
	}
	if err := c.findHub(); err != nil {
		return nil, err
	}
	c.taken = c.from.reach(c.Kind, c.converts)
	for d := range c.taken {
		if slices.ContainsFunc(d.names, func(name string) bool { return c.there.declared[name] != nil }) {
			delete(c.taken, d) // another kind brought it
		}
	}
	return c.write()
}

func (c *copied) check() error {
	switch {
	case len(c.Serve) > 0 || c.ClusterScoped:
		return errors.New("--from copies a version of a kind as it is: leave --serve and --cluster-scoped out")
	case c.Kind == "" || c.Version == "":
		return errors.New("--from needs --kind and --version: the kind, and its new version")
	case c.Version == c.From:
		return fmt.Errorf("--version and --from are both %s", c.From)
	}
	return c.checkVersion()
}

// find finds the package that has the kind in the version, and reads it and that of the new version.
func (c *copied) find() error {
	found, err := apiPackages(c.Dir)
	if err != nil {
		return err
	}
	for _, folder := range found.own {
		if path.Base(folder) != c.From {
			continue
		}
		s, err := readSource(c.at(folder))
		if err != nil {
			return err
		}
		if s.declared[c.Kind] == nil || c.Group != "" && s.group() != c.Group {
			continue
		}
		if c.folder != "" {
			return fmt.Errorf("kind %s is in version %s twice, in %s and in %s: name its group with --group", c.Kind,
				c.From, c.folder, folder)
		}
		c.folder, c.from = folder, s
	}
	if c.folder == "" {
		return fmt.Errorf("no package of version %s has a kind %s", c.From, c.Kind)
	}
	c.target = path.Join(path.Dir(c.folder), c.Version)
	if c.there, err = readSource(c.at(c.target)); err == nil && c.there.declared[c.Kind] != nil {
		err = fmt.Errorf("kind %s is in version %s already: %s", c.Kind, c.Version, c.target)
	}
	return err
}

func (c *copied) at(folder string) string { return filepath.Join(c.Dir, filepath.FromSlash(folder)) }

var (
	conversionPeer = regexp.MustCompile(`(?m)^//\s*\+k8s:conversion-gen=(\S*/\S*)`)
	storageMarker  = regexp.MustCompile(`(?m)^//\s*\+kubebuilder:storageversion\b`)
)

func (s *source) group() string { return s.marked(groupMarker) }

// marked returns what a marker of the package says.
func (s *source) marked(marker *regexp.Regexp) string {
	for _, f := range s.files {
		if m := marker.FindStringSubmatch(f.head); m != nil {
			return m[1]
		}
	}
	return ""
}

// findHub finds what versions convert to: the internal package, or the version that is stored. It fails where the new
// version would be stored, because no marker names another one.
func (c *copied) findHub() error {
	parent := path.Dir(c.folder)
	internal, err := readSource(c.at(parent))
	if err != nil {
		return err
	}
	stored, err := c.stored(parent)
	if err != nil {
		return err
	}
	hub := path.Join(parent, stored)
	switch peer := c.from.marked(conversionPeer); {
	case peer != "":
		c.HubPath = peer
	case len(internal.files) > 0 && internal.declared[c.Kind] != nil:
		c.HubPath = c.Module + "/" + parent
	default:
		c.HubPath = c.Module + "/" + hub
	}
	c.Hub = path.Base(c.HubPath)
	c.HubName = model.ConversionPart(c.HubPath)
	if name := packageClause(c.at(strings.TrimPrefix(c.HubPath, c.Module+"/"))); name != "" && name != c.Hub {
		c.Hub, c.Alias = name, true
	}
	return nil
}

// stored returns the version in which the kind is stored, and must stay so.
func (c *copied) stored(parent string) (string, error) {
	folders, err := filepath.Glob(filepath.Join(c.at(parent), "*"))
	if err != nil {
		return "", err
	}
	first := ""
	for _, folder := range folders {
		version := filepath.Base(folder)
		if !model.IsVersion(version) {
			continue
		}
		s, err := readSource(folder)
		if err != nil {
			return "", err
		}
		switch d := s.declared[c.Kind]; {
		case d == nil:
		case storageMarker.MatchString(d.text):
			return version, nil
		case first == "" || model.CompareVersions(version, first) < 0:
			first = version
		}
	}
	if model.CompareVersions(c.Version, first) < 0 {
		return "", fmt.Errorf("kind %s has no storage version, so that the new version %s would be stored: write "+
			"+kubebuilder:storageversion above the kind in %s", c.Kind, c.Version, path.Join(parent, first))
	}
	return first, nil
}

func packageClause(folder string) string {
	s, err := readSource(folder)
	if err != nil || len(s.files) == 0 {
		return ""
	}
	content, err := os.ReadFile(filepath.Join(folder, s.files[0].base))
	if err != nil {
		return ""
	}
	if m := regexp.MustCompile(`(?m)^package (\w+)`).FindSubmatch(content); m != nil {
		return string(m[1])
	}
	return ""
}

// isHub reports whether the copied version is the hub itself.
func (c *copied) isHub() bool { return c.HubPath == c.Module+"/"+c.folder }

// converts tells the hand-written conversions of types, which the new version needs as well. Those of the hub are about
// other versions.
func (c *copied) converts(d *declaration, names map[string]bool) bool {
	return !c.isHub() && slices.ContainsFunc(d.names, func(name string) bool {
		from, to, ok := strings.Cut(strings.TrimPrefix(name, "Convert_"), "_To_")
		own := func(side string) bool {
			t, ok := strings.CutPrefix(side, c.From+"_")
			return ok && names[t]
		}
		return ok && strings.HasPrefix(name, "Convert_") && (own(from) || own(to))
	})
}

// write renders the files of the new version, and then writes them. It keeps files that are there, and fails where one
// is in the way.
func (c *copied) write() (*Result, error) {
	contents := map[string][]byte{}
	var order []string
	add := func(name string, content []byte, err error) error {
		if exists(c.at(name)) {
			name = path.Join(path.Dir(name), strings.ToLower(c.Kind)+"_"+path.Base(name))
		}
		if (exists(c.at(name)) || contents[name] != nil) && err == nil {
			err = fmt.Errorf("%s is in the way", name)
		}
		order, contents[name] = append(order, name), content
		return err
	}
	var errs []error
	for _, f := range c.from.files {
		if text := c.text(f); text != "" {
			content, err := format.Source([]byte(text))
			errs = append(errs, add(path.Join(c.target, f.base), content, err))
		}
	}
	if c.Structs = c.structs(); len(c.Structs) > 0 {
		_, content, err := render(file{path: "conversion.go", template: "copy/conversion.go.tmpl"}, c)
		errs = append(errs, add(path.Join(c.target, "conversion.go"), content, err))
	}
	if name, content := c.sample(); content != nil && !exists(c.at(name)) {
		order, contents[name] = append(order, name), content
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	result := &Result{}
	for _, name := range order {
		if err := result.create(c.Dir, name, contents[name]); err != nil {
			return result, err
		}
	}
	return result, nil
}

// structs returns the structs of the kind's fields, where versions usually differ: spec and status. It returns none
// where hand-written conversions were copied: they are the place then.
func (c *copied) structs() []string {
	var out []string
	for d := range c.taken {
		if isConversion(d) {
			return nil
		}
	}
	ast.Inspect(c.from.declared[c.Kind].node, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != c.Kind {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				if name := baseName(f.Type); c.isStruct(name) && len(f.Names) > 0 && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
		return false
	})
	if len(out) == 0 {
		out = []string{c.Kind}
	}
	return slices.DeleteFunc(out, func(name string) bool { return c.there.declared[name] != nil })
}

func isConversion(d *declaration) bool {
	return slices.ContainsFunc(d.names, func(name string) bool { return strings.HasPrefix(name, "Convert_") })
}

func (c *copied) isStruct(name string) bool {
	d := c.from.declared[name]
	if d == nil {
		return false
	}
	found := false
	ast.Inspect(d.node, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == name {
			_, found = spec.Type.(*ast.StructType)
		}
		return true
	})
	return found
}

// sample returns the kind's sample in the new version, if there is one in the copied version.
func (c *copied) sample() (string, []byte) {
	base := path.Join("config/samples", strings.ToLower(c.Kind))
	for _, name := range []string{base + "." + c.From + ".yaml", base + ".yaml"} {
		content, err := os.ReadFile(c.at(name))
		group := "apiVersion: " + strings.TrimPrefix(c.from.group()+"/", "/")
		if text := string(content); err == nil && strings.Contains(text, group+c.From+"\n") {
			return base + "." + c.Version + ".yaml", []byte(strings.ReplaceAll(text, group+c.From+"\n",
				group+c.Version+"\n"))
		}
	}
	return "", nil
}

// Package crd emits CustomResourceDefinitions: for packages marked +apigen:crds=<folder>, a document in YAML for each
// kind of the groups below the package, by which a cluster serves the same types without a server of their own. They
// are the same as controller-gen's documents of the types, to the word: the structural schema has everything in place,
// since it can't have references, and merges the constraints of a field and of its type as controller-gen does.
//
// A CustomResourceDefinition can't express all features of a server. Remarks name those that it leaves out, each at its
// line. The package knows emit, model, plan and schema.
package crd

import (
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/model"
)

// Emitter returns the emitter of CustomResourceDefinitions.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name:     "crd",
		Doc:      "CustomResourceDefinitions of the kinds below a package marked +apigen:crds, in YAML",
		Files:    []string{"*.yaml"},
		Faults:   documents.FindFaults,
		Emit:     documents.Emit,
		Remarks:  Remarks,
		Warnings: warnings,
	}
}

var documents = emit.Documents{
	What:   "CustomResourceDefinitions",
	Folder: func(pkg *model.Package) *model.Folder { return pkg.CRDs },
	Faults: faults,
	Write:  write,
}

func write(p *model.Program, pkg *model.Package) ([]emit.File, error) {
	var files []emit.File
	b := newBuilder(pkg.EmbeddedMetadata)
	for _, r := range resourcesBelow(p, pkg) {
		content, err := yaml.Marshal(b.definition(r))
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{
			Package: pkg.Path, Dir: pkg.CRDs.Dir, PackageName: pkg.Name,
			Name: FileName(r.group.Name, r.Plural), Content: append(head(p.Header), content...),
		})
	}
	return files, nil
}

// FileName is the base name of a kind's document.
func FileName(group, plural string) string { return group + "_" + plural + ".yaml" }

// head returns the first lines of a document: the notice that it is generated, and the header of the program's files.
func head(header string) []byte {
	var out strings.Builder
	out.WriteString("# " + emit.Notice + "\n")
	for line := range strings.Lines(header) {
		text := strings.TrimSpace(line)
		for _, mark := range []string{"//", "/*", "*/", "*"} {
			text = strings.TrimPrefix(text, mark)
		}
		out.WriteString(strings.TrimRight("#"+strings.TrimSuffix(text, "*/"), " ") + "\n")
	}
	out.WriteString("---\n")
	return []byte(out.String())
}

// resource is a kind with the versions that its definition has.
type resource struct {
	*model.Resource
	group    *model.Group
	versions []model.ResourceVersion
	storage  *model.Version
}

// resourcesBelow returns the kinds below a package that have a definition: kinds of a group with a name that are stored
// there, in the versions that no marker leaves out.
func resourcesBelow(p *model.Program, pkg *model.Package) []resource {
	return slices.DeleteFunc(kindsBelow(p, pkg),
		func(r resource) bool { return r.WithoutStorage || r.SameAs != nil || r.group.Name == "" })
}

// kindsBelow returns all kinds below a package, stored or not.
func kindsBelow(p *model.Program, pkg *model.Package) []resource {
	var out []resource
	for _, g := range p.Groups {
		for _, r := range g.Resources {
			found := resource{Resource: r, group: g}
			for _, v := range r.Versions {
				below := strings.HasPrefix(v.Type.Package.Home().Path+"/", pkg.Path+"/")
				if below && !v.Type.Package.Home().Skip && v.Type.Kind != nil && !v.Type.Kind.Manifest.Skip {
					found.versions = append(found.versions, v)
				}
			}
			if len(found.versions) == 0 {
				continue
			}
			slices.SortStableFunc(found.versions, func(a, b model.ResourceVersion) int {
				return strings.Compare(a.Version.Name, b.Version.Name)
			})
			found.storage = r.Storage
			if len(found.versions) == 1 {
				found.storage = found.versions[0].Version
			}
			out = append(out, found)
		}
	}
	return out
}

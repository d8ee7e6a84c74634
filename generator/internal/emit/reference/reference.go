// Package reference emits the API reference: for packages marked +apigen:reference=<folder>, a page in Markdown and one
// in HTML for each served version of the groups below the package. A page shows the comments, types and markers of the
// model. The package does not trust comments: only the paragraphs, lists, code and links that go doc knows become
// markup, and all other text is escaped. It knows emit, model, plan, schema and the templates.
package reference

import (
	"bytes"
	"fmt"
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/model"
)

// Emitter returns the emitter of references.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name:   "reference",
		Doc:    "the API reference of the groups below a package marked +apigen:reference, in Markdown and HTML",
		Files:  []string{"*.md", "*.html"},
		Faults: documents.FindFaults,
		Emit:   documents.Emit,
	}
}

var documents = emit.Documents{
	What:   "references",
	Folder: func(pkg *model.Package) *model.Folder { return pkg.Reference },
	Faults: faults,
	Write:  write,
}

func faults(p *model.Program, pkg *model.Package) (out diag.Errors) {
	if len(versionsBelow(p, pkg)) == 0 {
		out.Add(pkg.Reference.Pos, "there is no API group below %s to write a reference of", pkg.Path)
	}
	return out
}

func write(p *model.Program, pkg *model.Package) ([]emit.File, error) {
	var files []emit.File
	for _, v := range versionsBelow(p, pkg) {
		made := newPage(v.group, v.version)
		for ending, tmpl := range pages {
			var out bytes.Buffer
			if err := tmpl(&out, made); err != nil {
				return nil, fmt.Errorf("reference of %s/%s: %w", v.group.Name, v.version.Name, err)
			}
			files = append(files, emit.File{
				Package: pkg.Path, Dir: pkg.Reference.Dir, PackageName: pkg.Name,
				Name: FileName(v.group.Name, v.version.Name) + ending, Content: tidy(out.Bytes()),
			})
		}
	}
	return files, nil
}

type groupVersion struct {
	group   *model.Group
	version *model.Version
}

// versionsBelow returns the served versions of the groups below a package.
func versionsBelow(p *model.Program, pkg *model.Package) (out []groupVersion) {
	for _, g := range p.Groups {
		for _, v := range g.ServedVersions() {
			if slices.ContainsFunc(v.Packages, func(p *model.Package) bool { return p.Home().Below(pkg.Path) }) {
				out = append(out, groupVersion{g, v})
			}
		}
	}
	return out
}

// FileName returns the base name of a version's pages, without an ending.
func FileName(group, version string) string {
	if group == "" {
		group = "core"
	}
	return group + "." + version
}

// tidy removes the blanks at the ends of lines and the runs of empty lines that templates leave.
func tidy(page []byte) []byte {
	var out bytes.Buffer
	empty := false
	for _, line := range bytes.Split(bytes.TrimSpace(page), []byte("\n")) {
		line = bytes.TrimRight(line, " \t")
		if len(line) == 0 && empty {
			continue
		}
		empty = len(line) == 0
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Bytes()
}

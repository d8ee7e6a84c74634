// Package reference emits the API reference: for packages marked +apigen:reference=<folder>, a page in Markdown and one
// in HTML for each served version of the groups below the package. A page shows the comments, types and markers of the
// model. The package does not trust comments: only the paragraphs, lists, code and links that go doc knows become
// markup, and all other text is escaped. It knows emit, model, plan, schema and the templates.
package reference

import (
	"bytes"
	"fmt"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// Emitter returns the emitter of references.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name:  "reference",
		Doc:   "the API reference of the groups below a package marked +apigen:reference, in Markdown and HTML",
		Files: []string{"*.md", "*.html"},
		Emit:  Emit,
	}
}

// Emit returns the pages of all marked packages.
func Emit(p *plan.Plan) ([]emit.File, error) {
	return emit.Documents(p, "references", func(pkg *model.Package) *model.Folder { return pkg.Reference },
		func(pkg *model.Package, errs *diag.Errors) ([]emit.File, error) {
			return emitPackage(p.Program, pkg, errs)
		})
}

func emitPackage(p *model.Program, pkg *model.Package, errs *diag.Errors) ([]emit.File, error) {
	var files []emit.File
	for _, g := range p.Groups {
		for _, v := range g.ServedVersions() {
			if !strings.HasPrefix(v.Package.Home().Path+"/", pkg.Path+"/") {
				continue
			}
			made := newPage(g, v)
			for ending, tmpl := range pages {
				var out bytes.Buffer
				if err := tmpl(&out, made); err != nil {
					return nil, fmt.Errorf("reference of %s/%s: %w", g.Name, v.Name, err)
				}
				files = append(files, emit.File{
					Package: pkg.Path, Dir: pkg.Reference.Dir, PackageName: pkg.Name,
					Name: FileName(g.Name, v.Name) + ending, Content: tidy(out.Bytes()),
				})
			}
		}
	}
	if len(files) == 0 {
		errs.Add(pkg.Reference.Pos, "there is no API group below %s to write a reference of", pkg.Path)
	}
	return files, nil
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

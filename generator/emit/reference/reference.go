// Package reference emits the API reference: for packages marked +apigen:reference=<folder>, a page in Markdown and one
// in HTML for each served version of the groups below the package. What it tells comes from the model alone: comments,
// types and markers. Comments are taken for text that anybody may have written: nothing in them becomes markup of the
// page but paragraphs, lists, code and links, as go doc knows them.
package reference

import (
	"bytes"
	"fmt"
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
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
	var errs diag.Errors
	var files []emit.File
	taken := map[string]*model.Package{}
	for _, pkg := range p.Packages {
		if pkg.Reference == nil || !p.Writes(pkg) {
			continue
		}
		if other := taken[pkg.Reference.Dir]; other != nil {
			errs.Add(pkg.Reference.Pos, "the references of %s and %s would go to the same folder: name another",
				other.Path, pkg.Path)
			continue
		}
		taken[pkg.Reference.Dir] = pkg
		pages, err := emitPackage(p.Program, pkg)
		if err != nil {
			return nil, err
		}
		if len(pages) == 0 {
			errs.Add(pkg.Reference.Pos, "there is no API group below %s to write a reference of", pkg.Path)
		}
		files = append(files, pages...)
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return files, nil
}

func emitPackage(p *model.Program, pkg *model.Package) ([]emit.File, error) {
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

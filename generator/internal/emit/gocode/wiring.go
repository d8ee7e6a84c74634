package gocode

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/model"
)

// WiringFile is a Go file of a group's wiring package under construction. It imports by jennifer's own rules.
type WiringFile struct {
	*jen.File
	wiring *model.WiringPackage
}

// NewWiring begins a file of a group's wiring package.
func NewWiring(p *model.Program, g *model.Group) WiringFile {
	f := WiringFile{jen.NewFilePathName(g.Wiring.Path, g.Wiring.Name), g.Wiring}
	f.HeaderComment(emit.Header(p))
	for name, path := range packages { // jennifer writes no alias but where two names collide
		if name == "metav1" {
			f.ImportAlias(path, name)
		} else if strings.Contains(path, ".") {
			f.ImportName(path, name)
		}
	}
	return f
}

// Render returns the formatted file under the base name.
func (f WiringFile) Render(base string) (emit.File, error) {
	file := WiringDocument(f.wiring, base, nil)
	return Render(f.File, file)
}

// WiringDocument is a file of a wiring package.
func WiringDocument(w *model.WiringPackage, base string, content []byte) emit.File {
	return emit.File{Package: w.Path, Dir: w.Dir, PackageName: w.Name, Name: base, Content: content}
}

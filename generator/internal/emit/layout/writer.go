package layout

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"text/template"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/clientset"
)

// Writer collects an emitter's files of clients.
type Writer struct {
	Plan    *plan.Plan
	emitter string
	files   []*File
	err     error
}

// Emitter returns an emitter of files of clients. The function write adds the files of one set.
func Emitter(name, doc string, write func(*Writer, *clientset.Set)) emit.Emitter {
	return emit.Emitter{
		Name: name, Doc: doc,
		Files:  []string{fileName(name)},
		Faults: func(p *plan.Plan) diag.Errors { return p.ClientFaults },
		Emit: func(p *plan.Plan) ([]emit.File, error) {
			w := &Writer{Plan: p, emitter: name}
			for _, s := range p.ClientSets {
				write(w, s)
			}
			return w.render()
		},
	}
}

func fileName(emitter string) string { return "zz_generated." + emitter + ".go" }

// File begins the emitter's file of a package below the set's path. The doc is the package's.
func (w *Writer) File(s *clientset.Set, path, name, doc string) *File {
	f := &File{program: w.Plan.Program, set: s, path: path, name: name, doc: doc, base: fileName(w.emitter),
		imports: map[string]string{}, byPath: map[string]string{}}
	f.ImportAll(usual)
	w.files = append(w.files, f)
	return f
}

// Execute adds the text of a template to a file.
func (w *Writer) Execute(f *File, t *template.Template, name string, data any) {
	w.Fail(t.ExecuteTemplate(f, name, data))
}

// Fail notes an error, which is a bug of the emitter; nil is none.
func (w *Writer) Fail(err error) { w.err = errors.Join(w.err, err) }

func (w *Writer) render() ([]emit.File, error) {
	if w.err != nil {
		return nil, w.err
	}
	out := make([]emit.File, 0, len(w.files))
	for _, f := range w.files {
		file, err := f.Render()
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	slices.SortFunc(out, func(a, b emit.File) int {
		return cmp.Or(strings.Compare(a.Dir, b.Dir), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}

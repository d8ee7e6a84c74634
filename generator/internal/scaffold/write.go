package scaffold

import (
	"bytes"
	"errors"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"apigen.dev/templates"
)

// write renders all files, and then writes those that don't exist.
func write(dir string, v any, files []file) (*Result, error) {
	result := &Result{}
	contents := map[string][]byte{}
	var paths []string
	collects := ""
	for _, f := range files {
		path, content, err := render(f, v)
		if err != nil {
			return nil, err
		}
		if exists(filepath.Join(dir, filepath.FromSlash(path))) {
			result.Kept = append(result.Kept, path)
			continue
		}
		paths, contents[path] = append(paths, path), content
		if f.template == collectorTemplate {
			collects = path
		}
	}
	for _, path := range paths {
		if err := result.create(dir, path, contents[path]); err != nil {
			return result, err
		}
		result.NewProject = result.NewProject || path == collects
	}
	return result, nil
}

func render(f file, v any) (path string, content []byte, err error) {
	var name bytes.Buffer
	if err := template.Must(template.New("path").Parse(f.path)).Execute(&name, v); err != nil {
		return "", nil, err
	}
	if f.template == "" {
		return name.String(), f.content, nil
	}
	text, err := templates.FS.ReadFile(f.template)
	if err != nil {
		return "", nil, err
	}
	parsed, err := template.New(f.template).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return "", nil, err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, v); err != nil {
		return "", nil, err
	}
	content = out.Bytes()
	if strings.HasSuffix(name.String(), ".go") {
		content, err = format.Source(content)
	}
	return name.String(), content, err
}

// create writes a file that doesn't exist, and the folders above it.
func (r *Result) create(dir, path string, content []byte) error {
	name := filepath.Join(dir, filepath.FromSlash(path))
	var missing []string
	for above := filepath.Dir(name); !exists(above); above = filepath.Dir(above) {
		missing = append(missing, above)
	}
	slices.Reverse(missing)
	r.folders = append(r.folders, missing...)
	if err := create(name, content); err != nil {
		return err
	}
	r.Created = append(r.Created, path)
	return nil
}

// Undo removes the files that were created below a folder, and the folders that were made for them and hold nothing
// else.
func (r *Result) Undo(dir string) error {
	var errs []error
	for _, path := range r.Created {
		errs = append(errs, os.Remove(filepath.Join(dir, filepath.FromSlash(path))))
	}
	for _, folder := range slices.Backward(r.folders) {
		if entries, err := os.ReadDir(folder); err == nil && len(entries) == 0 {
			errs = append(errs, os.Remove(folder))
		}
	}
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, fs.ErrNotExist) })...)
}

func create(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

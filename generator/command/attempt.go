package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"apigen.dev/generator/internal/scaffold"
)

// attempt is a run of init in a folder. It says what it does to the writer, and undoes it if it fails.
type attempt struct {
	io.Writer
	dir     string
	results []*scaffold.Result
	// modules are the files of the go command as they were before, by their names; nil if there was none.
	modules map[string][]byte
}

func begin(w io.Writer, dir string) (*attempt, error) {
	a := &attempt{Writer: w, dir: dir, modules: map[string][]byte{}}
	for _, base := range []string{"go.mod", "go.sum"} {
		name := filepath.Join(dir, base)
		content, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		a.modules[name] = content
	}
	return a, nil
}

// note lists the files of a result, if there is one, and remembers it.
func (a *attempt) note(result *scaffold.Result) {
	if result != nil {
		if result.Took != "" {
			fmt.Fprintf(a, "the kind is added to %s\n", result.Took)
		}
		listFiles(a, a.dir, result)
		a.results = append(a.results, result)
	}
}

// end undoes an attempt that failed: nothing that it made stays, and all that was there before does.
func (a *attempt) end(err error) error {
	if err == nil || len(a.results) == 0 {
		return err
	}
	errs, created := []error{err}, 0
	for name, content := range a.modules {
		errs = append(errs, restore(name, content))
	}
	for _, result := range slices.Backward(a.results) {
		errs, created = append(errs, result.Undo(a.dir)), created+len(result.Created)
	}
	if created > 0 {
		fmt.Fprintln(a, "init failed, and removed again what it had created")
	}
	return errors.Join(errs...)
}

// restore gives a file the content that it had; nil if there was no file.
func restore(name string, content []byte) error {
	if content == nil {
		if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if now, err := os.ReadFile(name); err == nil && bytes.Equal(now, content) {
		return nil
	}
	return os.WriteFile(name, content, 0o644)
}

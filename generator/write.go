package generator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// write makes all changes or, when one fails, none: new contents are written beside their targets first and renamed
// into place when all are on the disk; what was replaced is put back on failure.
func write(changes []Change) (err error) {
	w := &writer{}
	for _, c := range changes {
		sweep(filepath.Dir(c.Path))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.rollback())
		}
		w.cleanup()
	}()
	for _, c := range changes {
		if c.New != nil {
			if err := w.prepare(c); err != nil {
				return fmt.Errorf("nothing was written: %w", err)
			}
		}
	}
	for i, c := range changes {
		if err := w.commit(c); err != nil {
			return fmt.Errorf("nothing was written: %w", err)
		}
		w.done = changes[:i+1]
	}
	for _, c := range changes {
		if c.New == nil {
			removeEmpty(filepath.Dir(c.Path))
		}
	}
	return nil
}

// removeEmpty removes a folder and those above it, up to the first that holds something: that of go.mod, at last.
func removeEmpty(dir string) {
	for os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}

// sweep removes the temporary files that a killed run left in a folder, long enough ago that it is no longer running.
func sweep(dir string) {
	old, _ := filepath.Glob(filepath.Join(dir, tempPattern))
	for _, name := range old {
		if st, err := os.Lstat(name); err == nil && time.Since(st.ModTime()) > time.Hour {
			_ = os.Remove(name)
		}
	}
}

// tempPattern is that of the files that new contents are written to first.
const tempPattern = ".apigen-*.tmp"

// writer is the state of one write.
type writer struct {
	temps map[string]string // by target
	dirs  []string          // that were made, outermost first
	done  []Change
}

// prepare writes new content to a temporary file in the target's folder.
func (w *writer) prepare(c Change) error {
	dir := filepath.Dir(c.Path)
	if err := w.mkdir(dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, tempPattern)
	if err != nil {
		return err
	}
	if w.temps == nil {
		w.temps = map[string]string{}
	}
	w.temps[c.Path] = f.Name()
	_, err = f.Write(c.New)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	return err
}

// mkdir makes a folder and remembers which ones are new.
func (w *writer) mkdir(dir string) error {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		missing = append(missing, d)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := os.Mkdir(missing[i], 0o755); err != nil {
			return err
		}
		w.dirs = append(w.dirs, missing[i])
	}
	return nil
}

func (w *writer) commit(c Change) error {
	if c.New == nil {
		return os.Remove(c.Path)
	}
	if err := os.Rename(w.temps[c.Path], c.Path); err != nil {
		return err
	}
	delete(w.temps, c.Path)
	return nil
}

// rollback puts back what was there before.
func (w *writer) rollback() error {
	var errs []error
	for _, c := range w.done {
		if c.Old == nil {
			errs = append(errs, os.Remove(c.Path))
		} else {
			errs = append(errs, os.WriteFile(c.Path, c.Old, 0o644))
		}
	}
	for _, t := range w.temps {
		errs = append(errs, os.Remove(t))
	}
	w.temps = nil
	for i := len(w.dirs) - 1; i >= 0; i-- {
		errs = append(errs, os.Remove(w.dirs[i]))
	}
	return errors.Join(errs...)
}

func (w *writer) cleanup() {
	for _, t := range w.temps {
		_ = os.Remove(t)
	}
}

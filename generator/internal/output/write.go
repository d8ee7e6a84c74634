package output

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"apigen.dev/generator/internal/folder"
)

// Write makes all changes or, when one fails or the process is killed, none: what was there is noted in a journal, new
// contents are written beside their targets and renamed into place when all are on the disk. On failure everything is
// put back; where the process was killed, the next run does so. Dir is the folder that apigen runs in.
func Write(dir string, changes []Change) error {
	return (&writer{changes: changes, step: func() {}}).run(journalDirs(dir)[0])
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

const tempPattern = ".apigen-*.tmp"

type writer struct {
	changes []Change
	journal journal
	// step is called between any two things that are done to the disk.
	step func()
}

func (w *writer) run(dir string) error {
	if len(w.changes) == 0 {
		return nil
	}
	f, err := openJournal(dir)
	if err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	w.step()
	w.plan(dir)
	err = w.untouched()
	if err == nil {
		err = w.journal.keep(f)
	}
	if err == nil {
		w.step()
		if err = w.commit(dir); err != nil {
			err = errors.Join(err, w.journal.rollback(dir))
		}
	}
	if cerr := closeJournal(f); err == nil && cerr != nil {
		return cerr
	}
	if err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	w.step()
	for _, c := range w.changes {
		if c.New == nil {
			removeEmpty(filepath.Dir(c.Path))
		}
	}
	return nil
}

func (w *writer) plan(dir string) {
	missing := map[string]bool{}
	name := ".apigen-" + rand.Text()
	for i, c := range w.changes {
		parent := filepath.Dir(c.Path)
		sweep(parent)
		f := journalFile{Path: folder.Relative(dir, c.Path), Existed: c.Old != nil, Old: c.Old}
		if c.New != nil {
			f.New = digest(c.New)
			f.Temp = folder.Relative(dir, filepath.Join(parent, fmt.Sprintf("%s-%d.tmp", name, i)))
			w.planDirs(dir, parent, missing)
		}
		w.journal.Files = append(w.journal.Files, f)
	}
}

// planDirs notes which folders are to be made for a folder to exist, outermost first.
func (w *writer) planDirs(dir, wanted string, missing map[string]bool) {
	if missing[wanted] || wanted == filepath.Dir(wanted) {
		return
	}
	if _, err := os.Stat(wanted); err == nil {
		return
	}
	missing[wanted] = true
	w.planDirs(dir, filepath.Dir(wanted), missing)
	w.journal.Dirs = append(w.journal.Dirs, folder.Relative(dir, wanted))
}

func (w *writer) untouched() error {
	for _, c := range w.changes {
		now, err := os.ReadFile(c.Path)
		if c.Old == nil && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if c.Old == nil || !bytes.Equal(now, c.Old) {
			return fmt.Errorf("%s was changed while apigen ran: run it again", c.Path)
		}
	}
	return nil
}

// commit writes all new contents, then puts one after the other into place.
func (w *writer) commit(dir string) error {
	for _, d := range w.journal.Dirs {
		if err := os.Mkdir(within(dir, d), 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		w.step()
	}
	for i, c := range w.changes {
		if c.New == nil {
			continue
		}
		if err := os.WriteFile(within(dir, w.journal.Files[i].Temp), c.New, 0o644); err != nil {
			return err
		}
		w.step()
	}
	for i, c := range w.changes {
		if c.New == nil {
			if err := os.Remove(c.Path); err != nil {
				return err
			}
		} else if err := os.Rename(within(dir, w.journal.Files[i].Temp), c.Path); err != nil {
			return err
		}
		w.step()
	}
	return nil
}

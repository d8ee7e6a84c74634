package output

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"apigen.dev/generator/internal/folder"
)

// journalName is that of the file in which a run that writes says beforehand what it is about to do. It lies beside
// go.work or go.mod, exists while something is written, and is what the next run of apigen undoes where one was killed.
const journalName = ".apigen-write.journal"

// journal is what is kept of a write that isn't finished. Paths are relative to the journal's folder, where they lie
// below it.
type journal struct {
	// Dirs are the folders that are to be made, outermost first.
	Dirs  []string
	Files []journalFile
}

type journalFile struct {
	Path string
	// Temp is where the new content is written first; empty if the file is to be removed.
	Temp string
	// Existed tells an old content from none. New is the hash of the new one; empty if the file is to be removed.
	Existed bool
	Old     []byte
	New     string
}

// journalDirs are the folders in which a journal can lie for a run in a folder, that of a new one first.
func journalDirs(dir string) []string {
	var out []string
	for _, name := range []string{"go.work", "go.mod"} {
		if path := folder.Above(dir, name); path != "" {
			out = append(out, filepath.Dir(path))
		}
	}
	return append(out, dir)
}

// Recover undoes what a run left half written that was killed: all files are again what they were before it, but for
// those that were changed since. It waits for a run that is writing. Where there is nothing to undo, it costs next to
// nothing.
func Recover(dir string) error {
	for _, d := range journalDirs(dir) {
		if _, err := os.Lstat(filepath.Join(d, journalName)); err != nil {
			continue
		}
		f, err := openJournal(d)
		if err != nil {
			return fmt.Errorf("a killed run can't be undone: %w", err)
		}
		if err := closeJournal(f); err != nil {
			return fmt.Errorf("a killed run can't be undone: %w", err)
		}
	}
	return nil
}

// openJournal makes the journal of a folder and locks it, so that no other run writes; what a killed run left in it is
// undone first.
func openJournal(dir string) (*os.File, error) {
	path := filepath.Join(dir, journalName)
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, err
		}
		if err := lockFile(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		// Who had the lock before may have removed the file meanwhile.
		now, err := os.Stat(path)
		if mine, serr := f.Stat(); err != nil || serr != nil || !os.SameFile(now, mine) {
			_ = f.Close()
			continue
		}
		if err := undo(f, dir); err != nil {
			return nil, errors.Join(err, f.Close()) // the journal stays, for the next run
		}
		return f, nil
	}
}

func closeJournal(f *os.File) error {
	return errors.Join(f.Truncate(0), removeLocked(f))
}

// undo reads a journal and puts everything back. One that isn't whole is of a run that had not begun to write.
func undo(f *os.File, dir string) error {
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	body, ok := sealed(data)
	if !ok {
		return nil
	}
	var j journal
	if err := json.Unmarshal(body, &j); err != nil {
		return nil //nolint:nilerr // of another version of apigen, with other fields: nobody can undo it
	}
	return j.rollback(dir)
}

func (j *journal) keep(f *os.File) error {
	body, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(seal(body), 0)
	return err
}

// seal puts a hash before a text, so that half of it is told from the whole.
func seal(body []byte) []byte {
	h := sha256.Sum256(body)
	return append([]byte(hex.EncodeToString(h[:])+"\n"), body...)
}

func sealed(data []byte) ([]byte, bool) {
	h, body, ok := bytes.Cut(data, []byte("\n"))
	return body, ok && string(h) == digest(body)
}

// rollback makes all files what they were, the last first. What is neither the old content nor the new one was written
// by somebody else, and stays.
func (j *journal) rollback(dir string) error {
	var errs []error
	for i := len(j.Files) - 1; i >= 0; i-- {
		errs = append(errs, j.Files[i].rollback(dir))
	}
	for i := len(j.Dirs) - 1; i >= 0; i-- {
		_ = os.Remove(within(dir, j.Dirs[i])) // fails, as it should, unless the folder is empty
	}
	return errors.Join(errs...)
}

func (f *journalFile) rollback(dir string) error {
	if f.Temp != "" {
		if err := os.Remove(within(dir, f.Temp)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	path := within(dir, f.Path)
	now, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if f.New != "" || !f.Existed {
			return nil // never put into place, or gone since
		}
	case err != nil:
		return nil //nolint:nilerr // a folder, or nothing that a run could have written
	case f.New == "" || digest(now) != f.New:
		return nil
	}
	if !f.Existed {
		return os.Remove(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return replaceFile(path, f.Old)
}

func replaceFile(path string, content []byte) error {
	temp := filepath.Join(filepath.Dir(path), ".apigen-"+rand.Text()+".tmp")
	err := os.WriteFile(temp, content, 0o644)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

func digest(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

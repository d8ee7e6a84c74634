// Package reload reads files again while a server runs, and uses them when their content changed. It looks at contents,
// not at times or events, so that it sees the swap of a symbolic link by which Kubernetes updates a mounted Secret, and
// works on every file system. It knows no other package.
package reload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Every is the interval at which a server reads its files again.
const Every = 10 * time.Second

// attempts is how often files are read that change all the time and are always broken.
const attempts = 5

// Files are files that belong together, such as a certificate and its key, and the value that was made of them. One
// goroutine at a time may use them.
type Files[T any] struct {
	// paths are the files, or their directory.
	paths []string
	read  func() ([]File, error)
	parse func(files []File) (T, error)
	value T
	// sum is that of the contents that were parsed last, with or without an error; failure is the error of the last
	// attempt to read them.
	sum     [sha256.Size]byte
	failure string
	// observer is called after each Reload that changed the value or failed.
	observer func(error)
}

// Observe has observer called after each Reload that changed the value, with nil, or that returned an error.
func (f *Files[T]) Observe(observer func(error)) { f.observer = observer }

// New reads files, and makes a value of their contents by parse. A later Reload calls parse again when one of them
// changed. parse must not keep state: an error leaves the value as it was.
func New[T any](parse func(contents [][]byte) (T, error), paths ...string) (*Files[T], error) {
	f := &Files[T]{paths: paths, read: func() ([]File, error) { return readAll(paths) }}
	f.parse = func(files []File) (T, error) {
		contents := make([][]byte, len(files))
		for i, file := range files {
			contents[i] = file.Content
		}
		return parse(contents)
	}
	_, err := f.Reload()
	return f, err
}

// File is a file of a directory.
type File struct {
	Path    string
	Content []byte
}

// NewDirectory is New for the files of a directory that have one of the extensions (".yaml"), in the order of their
// names. Directories in it are left out. Files may come and go.
func NewDirectory[T any](parse func(files []File) (T, error), path string, extensions ...string) (*Files[T], error) {
	f := &Files[T]{paths: []string{path}, parse: parse}
	f.read = func() ([]File, error) {
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		var paths []string
		for _, entry := range entries {
			if !entry.IsDir() && slices.Contains(extensions, strings.ToLower(filepath.Ext(entry.Name()))) {
				paths = append(paths, filepath.Join(path, entry.Name()))
			}
		}
		return readAll(paths)
	}
	_, err := f.Reload()
	return f, err
}

func readAll(paths []string) ([]File, error) {
	files := make([]File, len(paths))
	for i, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files[i] = File{path, content}
	}
	return files, nil
}

// Value returns the value of the last contents without error.
func (f *Files[T]) Value() T { return f.value }

// Paths returns the names of the files, or of their directory.
func (f *Files[T]) Paths() []string { return f.paths }

// Reload reads the files again, and says whether the value changed. An error leaves the value as it was. Contents from
// which no value can be made are read twice, since somebody may have replaced one file after the other in between.
// Reload returns the same error for the same contents once, so that a caller can log it.
func (f *Files[T]) Reload() (changed bool, err error) {
	changed, err = f.reload()
	if f.observer != nil && (changed || err != nil) {
		f.observer(err)
	}
	return changed, err
}

func (f *Files[T]) reload() (changed bool, err error) {
	last := f.sum
	for attempt := 1; ; attempt++ {
		files, err := f.read()
		if err != nil {
			f.sum = [sha256.Size]byte{} // what comes back is news
			return false, f.fail(err)
		}
		sum := sumOf(files)
		if sum == f.sum {
			return false, nil
		}
		value, err := f.parse(files)
		if err == nil {
			f.value, f.sum, f.failure = value, sum, ""
			return true, nil
		}
		if sum == last || attempt == attempts { // it is not a mixture of old and new files
			f.sum = sum
			return false, f.fail(err)
		}
		last = sum
	}
}

// fail returns err, unless the last attempt failed with the same error.
func (f *Files[T]) fail(err error) error {
	if err.Error() == f.failure {
		return nil
	}
	f.failure = err.Error()
	return err
}

func sumOf(files []File) [sha256.Size]byte {
	var all bytes.Buffer
	for _, file := range files {
		_ = binary.Write(&all, binary.BigEndian, int64(len(file.Content))) // writing to a buffer can't fail
		all.Write(file.Content)
	}
	return sha256.Sum256(all.Bytes())
}

// Follow reloads the files at every tick until ctx ends, and gives a changed value to use. It logs both what it takes
// and what it can't take; name says what the files are.
func (f *Files[T]) Follow(
	ctx context.Context, ticks <-chan time.Time, log *slog.Logger, name string, use func(T),
) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		changed, err := f.Reload()
		if err != nil {
			log.Error("files could not be reloaded, the previous content stays in use", "of", name,
				"files", strings.Join(f.paths, ", "), "error", err)
		}
		if changed {
			use(f.value)
			log.Info("files were reloaded", "of", name, "files", strings.Join(f.paths, ", "))
		}
	}
}

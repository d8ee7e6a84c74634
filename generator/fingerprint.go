package generator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/folder"
	"apigen.dev/generator/internal/input"
	"apigen.dev/generator/internal/program"
)

// stamp decides whether anything changed since a build that succeeded. It must never say that nothing did when
// something did: all contents are read and hashed, none is judged by its time, and where the inputs can't all be told,
// nothing is remembered.
type stamp struct {
	path   string // of the record; empty remembers nothing
	dir    string
	frame  string // everything but files: options, environment, programs
	before map[string]string
	start  time.Time
}

type record struct {
	Frame string
	// Dirs are the folders of all modules in reach that can change.
	Dirs []string
	// Outputs are the files that were generated and that no walk of Dirs finds: documents.
	Outputs []string
	Sum     string
	Report
}

// environment are the variables by which the go command's answers differ.
var environment = []string{
	"GOFLAGS", "GOOS", "GOARCH", "GOWORK", "GOENV", "GOEXPERIMENT", "CGO_ENABLED", "GOTOOLCHAIN", "GO111MODULE",
	"GOROOT", "GOMODCACHE", "GOPATH", "GOARM", "GOARM64", "GOAMD64", "GO386", "GOMIPS", "GOMIPS64", "GOPPC64",
	"GORISCV64", "GOWASM", "GODEBUG", "GOFIPS140",
}

func newStamp(o Options) *stamp {
	s := &stamp{dir: o.Dir, start: time.Now()}
	if o.Cache == "" || !tellable(o) {
		return s
	}
	frame, err := frameOf(o)
	if err != nil {
		return s
	}
	s.frame = frame
	key := digest([]byte(strings.Join(slices.Concat([]string{o.Dir}, o.Patterns, []string{"\x00"}, o.Only), "\x00")))
	s.path = filepath.Join(o.Cache, key[:32]+".json")
	return s
}

// tellable reports whether all inputs can be told: not where another driver answers, files are overlaid, or patterns
// name folders that are not walked.
func tellable(o Options) bool {
	for _, e := range o.Env {
		name, value, _ := strings.Cut(e, "=")
		switch {
		case name == "GOPACKAGESDRIVER" && value != "" && value != "off":
			return false
		case name == "GOENV" && value != "" && value != "off":
			return false
		case name == "GOFLAGS" && (strings.Contains(value, "-overlay") || strings.Contains(value, "-modfile") ||
			strings.Contains(value, "-toolexec")):
			return false
		}
	}
	for _, p := range o.Patterns {
		for _, part := range strings.Split(filepath.ToSlash(p), "/") {
			if strings.HasPrefix(part, ".") && part != "." && part != ".." && part != "..." {
				return false
			}
		}
	}
	return true
}

func frameOf(o Options) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n%q\n%q\n%q\n%t\n%s\n", o.Dir, o.Patterns, o.Only, o.Header, o.Lenient, runtime.Version())
	env := map[string]string{}
	for _, e := range o.Env {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	for _, name := range environment {
		fmt.Fprintf(h, "%s=%q\n", name, env[name])
	}
	if work := env["GOWORK"]; work != "" && work != "off" {
		data, _ := os.ReadFile(work)
		fmt.Fprintf(h, "%x\n", sha256.Sum256(data))
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return "", err
	}
	for _, program := range []string{self, goCommand} {
		if program, err = filepath.EvalSymlinks(program); err != nil {
			return "", err
		}
		id, err := identity(program)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %s\n", program, id)
	}
	for _, e := range o.Emitters {
		fmt.Fprintf(h, "%s\n", e.Name)
	}
	if config, err := os.UserConfigDir(); err == nil {
		data, _ := os.ReadFile(filepath.Join(config, "go", "env"))
		fmt.Fprintf(h, "%x\n", sha256.Sum256(data))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// identity tells a program from others, without reading all of it: its size, its time, and its beginning, where the
// linker puts a hash of what it was made from.
func identity(program string) (string, error) {
	const beginning = 64 << 10
	f, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(f, beginning))
	return fmt.Sprintf("%d %d %s", st.Size(), st.ModTime().UnixNano(), digest(data)), err
}

func (s *stamp) unchanged() *Result {
	if s.path == "" {
		return nil
	}
	var r record
	data, err := os.ReadFile(s.path)
	if err != nil || json.Unmarshal(data, &r) != nil || r.Frame != s.frame {
		root := s.dir
		if mod := folder.Above(root, "go.mod"); mod != "" {
			root = filepath.Dir(mod)
		}
		s.before, _ = snapshot([]string{root})
		return nil
	}
	s.before, err = snapshot(r.Dirs, r.Outputs...)
	if err != nil || sum(s.before, s.dir) != r.Sum {
		return nil
	}
	return &Result{Unchanged: true, Report: r.Report}
}

func (s *stamp) remember(res *Result, loaded *program.Result, files []emit.File) {
	if s.path == "" {
		return
	}
	r := record{Frame: s.frame, Dirs: loaded.Universe.MutableDirs(), Report: res.Report}
	for _, f := range files {
		if !input.Is(f.Name) {
			r.Outputs = append(r.Outputs, filepath.Join(f.Dir, f.Name))
		}
	}
	if loaded.Universe.Linked(r.Dirs) {
		return
	}
	written := map[string]string{}
	for _, c := range res.Changes {
		written[c.Path] = ""
		if c.New != nil {
			written[c.Path] = digest(c.New)
		}
	}
	after, err := snapshot(r.Dirs, r.Outputs...)
	if err != nil || s.disturbed(after, written) {
		return
	}
	r.Sum = sum(after, s.dir)
	data, err := json.Marshal(r)
	if err != nil || os.MkdirAll(filepath.Dir(s.path), 0o755) != nil {
		return
	}
	temp := fmt.Sprintf("%s.%d.tmp", s.path, os.Getpid())
	if os.WriteFile(temp, data, 0o644) != nil || os.Rename(temp, s.path) != nil {
		_ = os.Remove(temp)
	}
}

// disturbed reports whether a file may have changed since the build began, other than those that it wrote, or one of
// those since then.
func (s *stamp) disturbed(after, written map[string]string) bool {
	for path, sum := range after {
		was, known := written[path]
		if !known {
			was, known = s.before[path]
		}
		if known && was != sum {
			return true
		}
		if known {
			continue
		}
		if st, err := os.Stat(path); err != nil || !st.ModTime().Before(s.start.Add(-2*time.Second)) {
			return true
		}
	}
	for path := range s.before {
		_, still := after[path]
		_, ours := written[path]
		if still || ours {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return true
		}
	}
	return false
}

func snapshot(dirs []string, files ...string) (map[string]string, error) {
	out := map[string]string{}
	for _, path := range files {
		if err := hashFile(out, path); err != nil {
			return nil, err
		}
	}
	for _, root := range dirs {
		for path, err := range input.Files(folder.Resolved(root)) { // WalkDir doesn't walk a symbolic link
			if err == nil {
				err = hashFile(out, path)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func hashFile(out map[string]string, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		if st, serr := os.Stat(path); serr != nil || st.IsDir() {
			out[path] = "absent" // a dangling link, a folder named like a file
			return nil           //nolint:nilerr // what can't be read is part of the fingerprint
		}
		return err
	}
	out[path] = digest(data)
	return nil
}

func digest(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// sum hashes a snapshot, together with the workspace and the module that the go command would use from a folder.
func sum(files map[string]string, dir string) string {
	h := sha256.New()
	work := folder.Above(dir, "go.work")
	fmt.Fprintf(h, "%q %q\n", folder.Above(dir, "go.mod"), work)
	for _, path := range []string{work, work + ".sum"} {
		if work != "" {
			data, _ := os.ReadFile(path)
			fmt.Fprintf(h, "%x\n", sha256.Sum256(data))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %s\n", path, files[path])
	}
	return hex.EncodeToString(h.Sum(nil))
}

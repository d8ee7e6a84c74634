// Package docs has no code of its own: this directory holds the manual, and the tests that keep it true.
package docs

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/lockedfile"
	"github.com/rogpeppe/go-internal/txtar"

	"apigen.dev/examples/demo/transcript"
)

// work returns the folder that tests of this package share, and that no other process has meanwhile. Its folder bin has
// apigen alone. Its folder project is a copy of a module while a test needs one. It has the same path in every run, so
// the go command finds in its cache what it compiled and linked in an earlier one.
func work(t *testing.T) string {
	t.Helper()
	dir, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// shared takes and empties the folder for the first test that asks for it. leave removes it.
var (
	leave  = func() error { return nil }
	shared = sync.OnceValues(func() (string, error) {
		dir := filepath.Join(os.TempDir(), fmt.Sprintf("apigen-docs-%d", os.Getuid()))
		unlock, err := lockedfile.MutexAt(dir + ".lock").Lock()
		if err != nil {
			return "", err
		}
		leave = func() error {
			defer unlock()
			return os.RemoveAll(dir)
		}
		if err := os.RemoveAll(dir); err != nil { // what a run left that was killed
			return "", err
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			return "", err
		}
		return filepath.EvalSymlinks(dir)
	})
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := leave(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// pages returns every Markdown page that people write, and the generated reference, by its path from the root.
func pages(t *testing.T) []string {
	t.Helper()
	found := []string{"../README.md", "../ARCHITECTURE.md", "../CONTRIBUTING.md", "../SECURITY.md"}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func blocks(t *testing.T, page string) []transcript.Block {
	t.Helper()
	blocks, err := transcript.Blocks(page)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// TestSnippets holds every Go snippet against the file that it names: each piece between lines "// ..." must stand
// there, in this order. The files are compiled by the tests of their modules.
func TestSnippets(t *testing.T) {
	for _, page := range pages(t) {
		for _, block := range blocks(t, page) {
			if block.Language != "go" {
				continue
			}
			name, ok := strings.CutPrefix(block.Info, "file=")
			if !ok {
				t.Errorf("%s:%d: a Go snippet names the file that it quotes: ```go file=examples/...", page, block.Line)
				continue
			}
			content, err := os.ReadFile(filepath.Join("..", name))
			if err != nil {
				t.Errorf("%s:%d: %v", page, block.Line, err)
				continue
			}
			rest := "\n" + string(content)
			for piece := range strings.SplitSeq(strings.Join(block.Lines, "\n"), "// ...\n") {
				piece = "\n" + strings.TrimSuffix(strings.TrimSuffix(piece, "// ..."), "\n") + "\n"
				_, after, ok := strings.Cut(rest, piece)
				if !ok {
					t.Errorf("%s:%d: %s doesn't hold, in this order:%s", page, block.Line, name, piece)
					break
				}
				rest = "\n" + after
			}
		}
	}
}

// TestTranscripts runs the shell sessions of all pages with an apigen that it builds, servers, and kubectl.
func TestTranscripts(t *testing.T) {
	bin := filepath.Dir(apigen(t))
	_, missing := exec.LookPath("kubectl")
	for _, page := range pages(t) {
		sessions := sessionsOf(blocks(t, page))
		if len(sessions) == 0 {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			for _, session := range sessions {
				if missing != nil && usesKubectl(session) {
					t.Skipf("there is no kubectl here; make kubectl builds one: %v", missing)
				}
				runSession(t, page, bin, session)
			}
		})
	}
}

// apigen returns the path of an apigen that the first test that asks for it builds.
func apigen(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(work(t), "bin", "apigen")
	if _, err := os.Stat(binary); err != nil {
		build(t, ".", binary, "../cmd/apigen")
	}
	return binary
}

// build builds a command, named by its folder from dir.
func build(t *testing.T, dir, binary, command string) {
	t.Helper()
	run := exec.Command("go", "build", "-o", binary, command)
	run.Dir, run.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", command, err, out)
	}
}

// goEnv returns what the go command takes for a variable.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// sessionsOf are the transcripts of a page: a block that names a folder begins a new one.
func sessionsOf(all []transcript.Block) [][]transcript.Block {
	var sessions [][]transcript.Block
	for _, block := range all {
		switch {
		case block.Language != "console":
		case block.Directory != "" || len(sessions) == 0:
			sessions = append(sessions, []transcript.Block{block})
		default:
			sessions[len(sessions)-1] = append(sessions[len(sessions)-1], block)
		}
	}
	return sessions
}

func usesKubectl(session []transcript.Block) bool {
	return slices.ContainsFunc(session, func(block transcript.Block) bool {
		return slices.ContainsFunc(block.Lines, func(line string) bool { return strings.HasPrefix(line, "$ kubectl ") })
	})
}

// runSession runs a session in a folder of its own, with a home of its own: what tools remember must not matter.
func runSession(t *testing.T, page, bin string, session []transcript.Block) {
	t.Helper()
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home, "GOWORK=off",
		"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		env = append(env, name+"="+goEnv(t, name))
	}
	env = append(env, "GOFLAGS="+goEnv(t, "GOFLAGS")+" -count=1") // go test runs what ran in the last run, too
	log := filepath.Join(home, "server.log")
	shell, err := transcript.Start(t.Context(), folder(t, session[0].Directory), log, env)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shell.Close(); err != nil {
			t.Error(err)
		}
		if logged, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("the server logged\n%s", logged)
		}
	}()
	for _, block := range session {
		for _, step := range block.Steps() {
			if err := shell.Run(t.Context(), step); err != nil {
				t.Fatalf("%s:%d: $ %s\n%v", page, step.Line, step.Command, err)
			}
		}
	}
}

// folder returns a folder for a session: an empty one, a copy of a module of this repository, which git knows, or a
// module with the files of an archive. They have the same path one after another, so that the go command finds the
// packages in its cache that it compiled for the session before. The test must have ended what runs in the last one.
func folder(t *testing.T, name string) string {
	t.Helper()
	switch {
	case name == "":
		return empty(t, "new")
	case strings.HasSuffix(name, ".txtar"):
		return unpacked(t, name)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := empty(t, "project")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, name))); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod = []byte(strings.ReplaceAll(string(mod), "=> ../..", "=> "+root))
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"init -q", "add -A", "-c user.name=a -c user.email=a@example.com commit -qm a"} {
		args := strings.Fields(line)
		git := exec.Command("git", args...)
		git.Dir = dir
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// unpacked writes the files of an archive into a module that requires what apigen's own module does, and apigen.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	mod = []byte(strings.Replace(string(mod), "module apigen.dev\n", "module example.com/test\n", 1) +
		"\nrequire apigen.dev v0.0.0\n\nreplace apigen.dev => " + filepath.ToSlash(root) + "\n")
	archive.Files = append(archive.Files, txtar.File{Name: "go.mod", Data: mod}, txtar.File{Name: "go.sum", Data: sums})
	dir := empty(t, "project")
	if err := txtar.Write(archive, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// empty makes a folder of the tests' folder anew.
func empty(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(work(t), name)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

var (
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchor  = regexp.MustCompile(`<a id="([^"]*)">`)
	symbols = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks holds every link to a file of this repository against the file, and its fragment against the headings.
func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(content), ""), -1) {
			target, fragment, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := page
			if target != "" {
				path = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: link %s: %v", page, found[1], err)
			} else if fragment != "" && !slices.Contains(anchors(t, path), fragment) {
				t.Errorf("%s: link %s: the page has no such heading", page, found[1])
			}
		}
	}
}

// anchors are the fragments that GitHub makes of a page's headings, and those that the page names.
func anchors(t *testing.T, page string) []string {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range heading.FindAllStringSubmatch(string(content), -1) {
		found = append(found, strings.ReplaceAll(symbols.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	for _, m := range anchor.FindAllStringSubmatch(string(content), -1) {
		found = append(found, m[1])
	}
	return found
}

// TestIndex holds the indexes of the manual and of the decisions against the pages in their folders.
func TestIndex(t *testing.T) {
	for _, folder := range []string{".", "reference", "decisions"} {
		index := "README.md"
		if folder == "decisions" {
			index = "decisions/README.md"
		}
		content, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.md"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no pages: %v", folder, err)
		}
		for _, page := range files {
			target, err := filepath.Rel(filepath.Dir(index), page)
			if err != nil {
				t.Fatal(err)
			}
			if target != "README.md" && !strings.Contains(string(content), "]("+target+")") {
				t.Errorf("%s doesn't link %s", index, target)
			}
		}
	}
}

// TestPackages holds the table of packages in ARCHITECTURE.md against the packages of the two halves.
func TestPackages(t *testing.T) {
	content, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "apigen.dev/generator/...", "apigen.dev/runtime/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(content), -1) {
		rows[m[1]] = true
	}
	for name := range strings.FieldsSeq(strings.ReplaceAll(string(out), "apigen.dev/", "")) {
		covered := rows[name]
		for above := name; above != "."; above = path.Dir(above) {
			covered = covered || rows[above+"/..."]
		}
		if !covered {
			t.Errorf("the tables of packages in ARCHITECTURE.md lack %s", name)
		}
	}
	for _, m := range row.FindAllStringSubmatch(string(content), -1) {
		if _, err := os.Stat(filepath.Join("..", strings.TrimSuffix(m[1], "/..."))); err != nil {
			t.Errorf("ARCHITECTURE.md: %v", err)
		}
	}
}

// row is a row of the table of packages.
var row = regexp.MustCompile("(?m)^\\| `([a-z/.]+)` \\|")

// TestShape bounds the width of lines, rows of tables and what is quoted aside, and the size of the two first pages.
func TestShape(t *testing.T) {
	for _, page := range pages(t) {
		if strings.HasPrefix(page, "reference/") {
			continue
		}
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		quoted := false
		scanner := bufio.NewScanner(strings.NewReader(string(content)))
		for n := 1; scanner.Scan(); n++ {
			line := scanner.Text()
			if strings.HasPrefix(line, "```") {
				quoted = strings.HasPrefix(line, "```go") || strings.HasPrefix(line, "```console")
			}
			if width := utf8.RuneCountInString(line); width > 120 && !quoted && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d: %d columns, more than 120", page, n, width)
			}
		}
	}
	for _, page := range []string{"../README.md", "../ARCHITECTURE.md"} {
		if info, err := os.Stat(page); err != nil || info.Size() > 16_000 {
			t.Errorf("%s: %v bytes, more than 16000 (%v)", page, info.Size(), err)
		}
	}
}

// TestPaths: what pages name of the two halves is there.
func TestPaths(t *testing.T) {
	named := regexp.MustCompile("`((?:generator|runtime)/[A-Za-z0-9/_.-]+)`")
	for _, page := range pages(t) {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(content), -1) {
			if _, err := os.Stat(filepath.Join("..", strings.TrimSuffix(m[1], "/..."))); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

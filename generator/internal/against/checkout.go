package against

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"apigen.dev/generator/internal/folder"
)

type state struct {
	// dir is its folder that corresponds to the new one.
	dir string
	// missing are the submodules that couldn't be had.
	missing []string
}

func (s state) absent() string {
	if len(s.missing) == 0 {
		return ""
	}
	return "\nof the submodule " + strings.Join(s.missing, ", ") + " that commit is not here: git submodule update " +
		"--init, and git fetch within it"
}

func checkout(ctx context.Context, dir, against string) (state, func(), error) {
	earlier := against
	if !filepath.IsAbs(against) {
		earlier = filepath.Join(dir, against)
	}
	if st, err := os.Stat(earlier); against != "" && err == nil && st.IsDir() {
		return state{dir: folder.Resolved(earlier)}, func() {}, nil
	}
	if against == "" || strings.HasPrefix(against, "-") {
		return state{}, nil, fmt.Errorf("--against %q is neither a folder nor a commit", against)
	}
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", against+"^{commit}")
	if err != nil {
		return state{}, nil, fmt.Errorf("--against %s is neither a folder nor a commit that git knows in %s (a "+
			"shallow clone has few: fetch with full depth)", against, dir)
	}
	prefix, perr := git(ctx, dir, "rev-parse", "--show-prefix")
	top, terr := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err := errors.Join(perr, terr); err != nil {
		return state{}, nil, err
	}
	temp, err := os.MkdirTemp("", "apigen-compat-*")
	if err != nil {
		return state{}, nil, err
	}
	clean := func() { _ = os.RemoveAll(temp) }
	temp = folder.Resolved(temp)
	repository := filepath.FromSlash(top)
	old := state{dir: filepath.Join(temp, filepath.FromSlash(prefix))}
	if old.missing, err = takeOut(ctx, repository, commit, temp); err == nil {
		err = anchor(old.dir, temp, repository)
	}
	if err == nil {
		if _, serr := os.Stat(old.dir); serr != nil {
			err = fmt.Errorf("%s has no folder %s", against, prefix)
		}
	}
	if err != nil {
		clean()
		return state{}, nil, fmt.Errorf("--against %s: %w", against, err)
	}
	return old, clean, nil
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	return gitWith(ctx, dir, nil, args...)
}

func gitWith(ctx context.Context, dir string, variables []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), variables...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// takeOut writes what git has of a commit of a repository below a folder, submodules included. Those that aren't
// checked out, or not far enough, are returned.
func takeOut(ctx context.Context, repository, commit, dir string) (missing []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	// An index of its own leaves the repository's alone.
	index := filepath.Join(dir, ".apigen-index")
	defer func() { err = errors.Join(err, os.Remove(index)) }()
	variables := []string{"GIT_INDEX_FILE=" + index}
	var tree string
	for _, args := range [][]string{
		{"-c", "core.sparseCheckout=false", "read-tree", commit},
		{"checkout-index", "--all", "--prefix=" + filepath.ToSlash(dir) + "/"},
		{"ls-files", "--stage", "-z"},
	} {
		if tree, err = gitWith(ctx, repository, variables, args...); err != nil {
			return nil, err
		}
	}
	for entry := range strings.SplitSeq(tree, "\x00") {
		link, ok := strings.CutPrefix(entry, "160000 ")
		if !ok {
			continue
		}
		about, path, _ := strings.Cut(link, "\t")
		at, _, _ := strings.Cut(about, " ")
		path = filepath.FromSlash(path)
		inner := filepath.Join(repository, path)
		_, err := os.Stat(filepath.Join(inner, ".git"))
		if err == nil {
			_, err = git(ctx, inner, "cat-file", "-e", at)
		}
		if err != nil {
			missing = append(missing, path)
			continue
		}
		more, err := takeOut(ctx, inner, at, filepath.Join(dir, path))
		if err != nil {
			return nil, err
		}
		for _, m := range more {
			missing = append(missing, filepath.Join(path, m))
		}
	}
	return missing, nil
}

// anchor makes modules in the copy of a repository find those beside the repository that go.mod and go.work name by
// relative paths.
func anchor(dir, copied, repository string) error {
	for ; ; dir = filepath.Dir(dir) {
		below, err := filepath.Rel(copied, dir)
		if err != nil || !filepath.IsLocal(below) {
			return err
		}
		outside := func(path string) string {
			if !modfile.IsDirectoryPath(path) || filepath.IsAbs(path) || filepath.IsLocal(filepath.Join(below, path)) {
				return ""
			}
			return filepath.Join(repository, below, path)
		}
		if err := rewrite(filepath.Join(dir, "go.mod"), outside, anchoredModule); err != nil {
			return err
		}
		if err := rewrite(filepath.Join(dir, "go.work"), outside, anchoredWork); err != nil {
			return err
		}
	}
}

// rewrite changes a file if it is there and can be read; what is wrong with it, the go command says.
func rewrite(name string, outside func(string) string, change func([]byte, func(string) string) []byte) error {
	data, _ := os.ReadFile(name)
	if len(data) == 0 {
		return nil
	}
	if data = change(data, outside); data == nil {
		return nil
	}
	return os.WriteFile(name, data, 0o600)
}

func anchoredModule(data []byte, outside func(string) string) []byte {
	f, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil
	}
	for _, r := range slices.Clone(f.Replace) {
		if to := outside(r.New.Path); to != "" && r.New.Version == "" &&
			f.AddReplace(r.Old.Path, r.Old.Version, to, "") != nil {
			return nil
		}
	}
	out, err := f.Format()
	if err != nil {
		return nil
	}
	return out
}

func anchoredWork(data []byte, outside func(string) string) []byte {
	f, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		return nil
	}
	for _, u := range slices.Clone(f.Use) {
		if to := outside(u.Path); to != "" && (f.DropUse(u.Path) != nil || f.AddUse(to, "") != nil) {
			return nil
		}
	}
	for _, r := range slices.Clone(f.Replace) {
		if to := outside(r.New.Path); to != "" && r.New.Version == "" &&
			f.AddReplace(r.Old.Path, r.Old.Version, to, "") != nil {
			return nil
		}
	}
	f.Cleanup()
	return modfile.Format(f.Syntax)
}

package generator

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"apigen.dev/generator/compat"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/rules"
	"apigen.dev/generator/load"
)

// CompatOptions say what to compare.
type CompatOptions struct {
	// Dir is the folder of the new state; empty is the working directory.
	Dir string
	// Against is the old state: a folder, or what git knows as a commit of the repository that Dir is in.
	Against string
	// Patterns are those of the go command, for both states; none is ./... .
	Patterns []string
	// Env is the environment of the go command; nil is the process's.
	Env []string
}

// CompatResult is what Compat found.
type CompatResult struct {
	Findings []compat.Finding
	// Dir and OldDir are the folders that were read: positions lie below them, unless in other modules.
	Dir, OldDir string
	// Warnings are faults of the new state that don't keep anything from being compared.
	Warnings emit.Errors
}

// Compat loads two states of an API and compares them. The error is emit.Errors where one of them is at fault. Nothing is
// written but a temporary folder that is removed.
func Compat(ctx context.Context, o CompatOptions) (*CompatResult, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if err := Recover(dir); err != nil {
		return nil, err
	}
	old, clean, err := checkout(ctx, dir, o.Against)
	if err != nil {
		return nil, err
	}
	defer clean()
	before, err := loadState(ctx, old, o)
	if err != nil {
		return nil, fmt.Errorf("the state to compare with, %s, doesn't load:\n%s", o.Against, Describe(err, old))
	}
	after, err := loadState(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	return &CompatResult{
		Findings: compat.Compare(before.Program, after.Program),
		Dir:      dir, OldDir: old, Warnings: after.Warnings,
	}, nil
}

func loadState(ctx context.Context, dir string, o CompatOptions) (*load.Result, error) {
	res, err := load.Load(ctx, load.Options{
		Dir: dir, Patterns: o.Patterns, Env: o.Env, Owns: owner(Emitters()), Lenient: true, Imports: imports, RuntimeImports: runtimeImports, RuleImports: rules.Imports(),
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// checkout returns the folder of the old state that corresponds to dir, and what removes it again.
func checkout(ctx context.Context, dir, against string) (string, func(), error) {
	nothing := func() {}
	if st, err := os.Stat(filepath.Join(dir, against)); against != "" && !filepath.IsAbs(against) && err == nil && st.IsDir() {
		return resolved(filepath.Join(dir, against)), nothing, nil
	}
	if st, err := os.Stat(against); filepath.IsAbs(against) && err == nil && st.IsDir() {
		return resolved(against), nothing, nil
	}
	if against == "" || strings.HasPrefix(against, "-") {
		return "", nil, fmt.Errorf("--against %q is neither a folder nor a commit", against)
	}
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", against+"^{commit}")
	if err != nil {
		return "", nil, fmt.Errorf("--against %s is neither a folder nor a commit that git knows in %s (a shallow clone has few: fetch with full depth)", against, dir)
	}
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return "", nil, err
	}
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", nil, err
	}
	temp, err := os.MkdirTemp("", "apigen-compat-*")
	if err != nil {
		return "", nil, err
	}
	clean := func() { _ = os.RemoveAll(temp) }
	temp = resolved(temp)
	archive, err := git(ctx, strings.TrimSpace(string(top)), "archive", "--format=tar", strings.TrimSpace(string(commit)))
	if err == nil {
		err = untar(archive, temp)
	}
	old := filepath.Join(temp, filepath.FromSlash(strings.TrimSpace(string(prefix))))
	if err == nil {
		if _, serr := os.Stat(old); serr != nil {
			err = fmt.Errorf("%s has no folder %s", against, strings.TrimSpace(string(prefix)))
		}
	}
	if err != nil {
		clean()
		return "", nil, fmt.Errorf("--against %s: %w", against, err)
	}
	return old, clean, nil
}

func resolved(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return dir
}

// git runs git in a folder and returns what it printed.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// untar writes the regular files and links of an archive that git made below a folder, and nothing outside of it.
func untar(archive []byte, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.FromSlash(strings.TrimSuffix(h.Name, "/"))
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o755)
		case tar.TypeReg:
			err = extract(root, name, r)
		case tar.TypeSymlink:
			err = root.Symlink(h.Linkname, name)
		}
		if err != nil {
			return err
		}
	}
}

func extract(root *os.Root, name string, from io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

package scaffold

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"apigen.dev/generator/internal/staging"
)

// Queries returns, for packages of other modules, how the go command is asked for their modules: in the version asked
// for by import path, else in that which go.mod requires, and else in that of apimachinery, where Kubernetes publishes
// the module with it, or the latest.
func Queries(dir, apimachinery string, importPaths []string, asked map[string]string) ([]string, error) {
	mod, err := readModule(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, importPath := range importPaths {
		version := "latest"
		if first := strings.SplitN(importPath, "/", 3); len(first) > 1 && first[0] == "k8s.io" {
			version = apimachinery
		}
		for _, r := range mod.Require {
			if importPath == r.Mod.Path || strings.HasPrefix(importPath, r.Mod.Path+"/") {
				version = r.Mod.Version
			}
		}
		out = append(out, importPath+"@"+cmp.Or(asked[importPath], version))
	}
	return out, nil
}

// Get runs go get in a project, for packages and their versions. It may raise versions of other modules, so that it
// also completes go.sum for what the project's packages and tools import.
func Get(ctx context.Context, dir string, queries ...string) error {
	if err := goCommand(ctx, dir, append([]string{"get"}, queries...)...); err != nil {
		return err
	}
	return goCommand(ctx, dir, "list", "-e", "-deps", "./...", "tool")
}

// goCommand runs the go command in a project, and lets it change go.mod and go.sum.
func goCommand(ctx context.Context, dir string, args ...string) error {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s failed: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// Skew returns what keeps the modules of Kubernetes that a project requires, and the apimachinery of apigen itself,
// from being of one release.
func Skew(dir, apimachinery string) (staging.Skew, error) {
	mod, err := readModule(dir)
	if err != nil {
		return staging.Skew{}, err
	}
	required := append(staging.Required(mod), module.Version{Path: "k8s.io/apimachinery", Version: apimachinery})
	return staging.Find(required), nil
}

func readModule(dir string) (*modfile.File, error) {
	name := filepath.Join(dir, "go.mod")
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, content, nil)
}

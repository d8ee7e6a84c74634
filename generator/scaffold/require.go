package scaffold

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// lockstep matches the modules that Kubernetes publishes together, under one version for each of its releases.
var lockstep = regexp.MustCompile(`^k8s\.io/[^/]+$`)

// isLockstep tells them from other modules below k8s.io, which have versions of their own.
func isLockstep(m module.Version) bool {
	return lockstep.MatchString(m.Path) && semver.Major(m.Version) == "v0" && !module.IsPseudoVersion(m.Version)
}

// Queries returns, for packages of other modules, how the go command is asked for their modules: in the version that
// go.mod requires, and else in that of apimachinery, where Kubernetes publishes the module with it, or the latest.
func Queries(dir, apimachinery string, importPaths []string) ([]string, error) {
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
		out = append(out, importPath+"@"+version)
	}
	return out, nil
}

// Get runs go get in a project, for packages and their versions.
func Get(ctx context.Context, dir string, queries ...string) error {
	get := exec.CommandContext(ctx, "go", append([]string{"get"}, queries...)...)
	get.Dir = dir
	get.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := get.CombinedOutput(); err != nil {
		return fmt.Errorf("the project was written, but go get %s failed: %w\n%s", strings.Join(queries, " "), err, out)
	}
	return nil
}

// Align returns the go get line that brings the modules which Kubernetes publishes together to one version, the newest
// of those that go.mod and apigen itself require of apimachinery. It returns "" where their minor versions agree.
func Align(dir, apimachinery string) (string, error) {
	mod, err := readModule(dir)
	if err != nil {
		return "", err
	}
	newest, line, apart := apimachinery, "go get", false
	for _, r := range mod.Require {
		if r.Mod.Path == "k8s.io/apimachinery" && semver.Compare(r.Mod.Version, newest) > 0 {
			newest = r.Mod.Version
		}
	}
	for _, r := range mod.Require {
		if isLockstep(r.Mod) {
			line += " " + r.Mod.Path + "@" + newest
			apart = apart || semver.MajorMinor(r.Mod.Version) != semver.MajorMinor(newest)
		}
	}
	if !apart {
		return "", nil
	}
	return line, nil
}

func readModule(dir string) (*modfile.File, error) {
	name := filepath.Join(dir, "go.mod")
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, content, nil)
}

// Package staging knows the modules that Kubernetes releases together from its staging directory: k8s.io/api,
// k8s.io/apimachinery, k8s.io/client-go and their like. It finds those of a build that are of different releases, which
// often don't compile beside one another, and says how to align them. It reads no file and runs no command.
package staging

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Skew is what keeps the modules of a build from being of one release of Kubernetes. The zero value means no skew.
type Skew struct {
	// Newest is the module of the newest release, Behind the modules of older ones, by path.
	Newest module.Version
	Behind []module.Version
}

// Find returns the skew between the modules of a build. Modules that Kubernetes doesn't release together don't count.
// Where a path occurs twice, its newer version counts, as the go command selects it.
func Find(modules []module.Version) Skew {
	selected := map[string]string{}
	var newest module.Version
	for _, m := range modules {
		if !Released(m) {
			continue
		}
		if semver.Compare(m.Version, selected[m.Path]) > 0 {
			selected[m.Path] = m.Version
		}
		switch order := semver.Compare(m.Version, newest.Version); {
		case order > 0, order == 0 && m.Path < newest.Path:
			newest = m
		}
	}
	s := Skew{Newest: newest}
	for path, version := range selected {
		if semver.MajorMinor(version) != semver.MajorMinor(newest.Version) {
			s.Behind = append(s.Behind, module.Version{Path: path, Version: version})
		}
	}
	if s.Behind == nil {
		return Skew{}
	}
	slices.SortFunc(s.Behind, func(a, b module.Version) int { return strings.Compare(a.Path, b.Path) })
	return s
}

// firstRelease is the minor version of Kubernetes since which its modules have versions like its own.
const firstRelease = 17

// Released reports whether a module is one of those that Kubernetes releases together: k8s.io/NAME at v0.N, where N is
// Kubernetes' minor version.
func Released(m module.Version) bool {
	name, ours := strings.CutPrefix(m.Path, "k8s.io/")
	minor, zero := strings.CutPrefix(semver.MajorMinor(m.Version), "v0.")
	n, err := strconv.Atoi(minor)
	return ours && !strings.Contains(name, "/") && zero && err == nil && n >= firstRelease
}

// Required returns the modules that a go.mod requires, in the versions that its replace directives put in their places.
func Required(mod *modfile.File) []module.Version {
	replaced := map[module.Version]string{}
	for _, r := range mod.Replace {
		replaced[r.Old] = r.New.Version
	}
	var out []module.Version
	for _, r := range mod.Require {
		everyVersion := module.Version{Path: r.Mod.Path}
		version := cmp.Or(replaced[r.Mod], replaced[everyVersion], r.Mod.Version)
		out = append(out, module.Version{Path: r.Mod.Path, Version: version})
	}
	return out
}

// Skewed reports whether there is a skew.
func (s Skew) Skewed() bool { return len(s.Behind) > 0 }

// String names the newest module and those behind it: "k8s.io/apimachinery v0.37.2 beside k8s.io/api v0.36.4". It is
// empty if there is no skew.
func (s Skew) String() string {
	if !s.Skewed() {
		return ""
	}
	var behind []string
	for _, m := range s.Behind {
		behind = append(behind, m.Path+" "+m.Version)
	}
	return s.Newest.Path + " " + s.Newest.Version + " beside " + strings.Join(behind, ", ")
}

// Command returns the command that aligns the modules to the newest release. It is empty if there is no skew.
func (s Skew) Command() string {
	if !s.Skewed() {
		return ""
	}
	out := "go get"
	for _, m := range s.Behind {
		out += " " + m.Path + "@" + s.Newest.Version
	}
	return out
}

// Package release says which Kubernetes release clients may take the server for.
//
// It imports nothing of ours.
package release

import (
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/semver"
	"k8s.io/apimachinery/pkg/version"
)

// The server follows the API conventions of the Kubernetes release that its k8s.io/apimachinery belongs to: v0.37.x is
// that of Kubernetes 1.37. Clients decide by the release what they may ask for.
const (
	apimachinery = "k8s.io/apimachinery"
	// oldestApimachinery is the version that go.mod of this module requires, so that no build has an older one. A
	// binary that doesn't list its modules, as tests don't, is taken for one with this version.
	oldestApimachinery = "v0.37.2"
)

// Version is what /version answers.
func Version() version.Info { return versionInfo(buildInfo()) }

// buildInfo returns what the binary knows of its build, an empty value if it knows nothing.
func buildInfo() *debug.BuildInfo {
	if build, ok := debug.ReadBuildInfo(); ok {
		return build
	}
	return &debug.BuildInfo{}
}

// versionInfo names the Kubernetes release that clients may take the server for, and the build of the server itself.
func versionInfo(build *debug.BuildInfo) version.Info {
	minor := kubernetesMinor(build)
	info := version.Info{
		Major: "1", Minor: minor, GitVersion: "v1." + minor + ".0+apigen",
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			info.GitCommit = setting.Value
		case "vcs.time":
			info.BuildDate = setting.Value
		case "vcs.modified":
			info.GitTreeState = map[string]string{"true": "dirty", "false": "clean"}[setting.Value]
		}
	}
	return info
}

// kubernetesMinor returns the minor version of the Kubernetes release that a build's apimachinery belongs to. A
// replacement counts if it has the version of a release; a directory or a commit in its place doesn't say what it
// is.
func kubernetesMinor(build *debug.BuildInfo) string {
	var versions []string
	for _, dep := range build.Deps {
		if dep.Path != apimachinery {
			continue
		}
		if dep.Replace != nil {
			versions = append(versions, dep.Replace.Version)
		}
		versions = append(versions, dep.Version)
	}
	for _, v := range append(versions, oldestApimachinery) {
		if minor, ok := strings.CutPrefix(semver.MajorMinor(v), "v0."); ok && minor != "0" {
			return minor
		}
	}
	return ""
}

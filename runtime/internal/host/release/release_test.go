package release

import (
	"os"
	"runtime/debug"
	"testing"

	"golang.org/x/mod/modfile"
)

func TestKubernetesVersionIsThatOfApimachinery(t *testing.T) {
	machinery := func(version string, replacement *debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Deps: []*debug.Module{
			{Path: "k8s.io/api", Version: "v0.99.0"},
			{Path: apimachinery, Version: version, Replace: replacement},
		}}
	}
	for name, c := range map[string]struct {
		build *debug.BuildInfo
		want  string
	}{
		"a release":   {machinery("v0.38.1", nil), "38"},
		"a candidate": {machinery("v0.40.0-rc.1", nil), "40"},
		"replaced by a release": {machinery("v0.38.1", &debug.Module{Path: "example.com/fork", Version: "v0.39.0"}),
			"39"},
		"replaced by a directory": {machinery("v0.38.1", &debug.Module{Path: "../apimachinery"}), "38"},
		"replaced by a commit": {machinery("v0.38.1", &debug.Module{Version: "v0.0.0-20260101000000-0123456789ab"}),
			"38"},
		"a commit":                {machinery("v0.0.0-20260101000000-0123456789ab", nil), "37"},
		"a build without modules": {&debug.BuildInfo{}, "37"},
		"no apimachinery in sight": {&debug.BuildInfo{Deps: []*debug.Module{{Path: "k8s.io/api", Version: "v0.38.0"}}},
			"37"},
	} {
		t.Run(name, func(t *testing.T) {
			info := versionInfo(c.build)
			if info.Major != "1" || info.Minor != c.want || info.GitVersion != "v1."+c.want+".0+apigen" {
				t.Errorf("the version is %s.%s, %s; Kubernetes 1.%s was expected", info.Major, info.Minor,
					info.GitVersion, c.want)
			}
		})
	}
}

// TestOldestApimachinery: what a build without a list of modules is taken for is what go.mod requires.
func TestOldestApimachinery(t *testing.T) {
	const path = "../../../../go.mod"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse(path, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, require := range file.Require {
		if require.Mod.Path == apimachinery {
			if require.Mod.Version != oldestApimachinery {
				t.Errorf("go.mod requires %s %s, oldestApimachinery is %s", apimachinery, require.Mod.Version,
					oldestApimachinery)
			}
			return
		}
	}
	t.Errorf("go.mod doesn't require %s", apimachinery)
}

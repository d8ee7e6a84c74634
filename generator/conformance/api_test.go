package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAPI: k8s.io/api goes through all emitters; the copies of its types, of all groups, are upstream's, on fuzzed
// objects.
func TestAPI(t *testing.T) {
	from := moduleDir(t, "k8s.io/api")
	dir := newModule(t)
	copyTree(t, from, filepath.Join(dir, "api"), emittedOrProtobuf,
		strings.NewReplacer(`"k8s.io/api/`, `"`+modulePath+`/api/`))
	run(t, dir, apigen(t), "build", "./...")
	var groups []string
	for _, file := range generated(t, from) {
		group, err := filepath.Rel(from, filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		checkSignatures(t, filepath.Dir(file), filepath.Join(dir, "api", group))
		groups = append(groups, group)
	}
	copyTest(t, "compare", filepath.Join(dir, "compare"))
	copyTest(t, "api", filepath.Join(dir, "compareapi"))
	write(t, filepath.Join(dir, "compareapi", "groups_test.go"), groupList(t, from, groups))
	goTest(t, dir, "./compareapi")
}

// emittedOrProtobuf leaves out the methods for protobuf, too: they take a minute to compile, and no test calls them.
func emittedOrProtobuf(base string) bool {
	return emitted.MatchString(base) || strings.HasSuffix(base, ".pb.go")
}

// wantKinds is fewer than k8s.io/api has, so that a comparison of nothing is noticed.
const wantKinds = 200

// groupList is the source of the lists of both sides' AddToScheme.
func groupList(t *testing.T, from string, groups []string) string {
	t.Helper()
	var imports, ours, theirs strings.Builder
	for i, group := range groups {
		if _, err := os.Stat(filepath.Join(from, group, "register.go")); err != nil {
			continue // imagepolicy's and the like: no kinds of a served group
		}
		path := filepath.ToSlash(group)
		fmt.Fprintf(&imports, "\tours%d %q\n\ttheirs%d %q\n", i, modulePath+"/api/"+path, i, "k8s.io/api/"+path)
		fmt.Fprintf(&ours, "\tours%d.AddToScheme,\n", i)
		fmt.Fprintf(&theirs, "\ttheirs%d.AddToScheme,\n", i)
	}
	return fmt.Sprintf(`package api

import (
	"k8s.io/apimachinery/pkg/runtime"

%s)

const wantKinds = %d

var ours = []func(*runtime.Scheme) error{
%s}

var theirs = []func(*runtime.Scheme) error{
%s}
`, imports.String(), wantKinds, ours.String(), theirs.String())
}

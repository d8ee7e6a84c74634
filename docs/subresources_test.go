package docs

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// subresourcesPage describes what kube-apiserver's writes of subresources change, from the recording that
// runtime/conformance/exchange replays, and which markers say so.
func subresourcesPage(t *testing.T) string {
	t.Helper()
	exchange := filepath.Join("..", "runtime", "conformance", "exchange", "testdata")
	recorded, err := os.Open(filepath.Join(exchange, "parts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer recorded.Close()
	var page strings.Builder
	fmt.Fprintf(&page, `# Subresources of Kubernetes' kinds

The table shows which members of metadata a write of a [subresource](../subresources.md) changes in kube-apiserver
%s, by PUT, PATCH and apply alike. No write changes fields outside of its subresource.

A server of the same [types](../types-of-another-module.md) does so with the marker +apigen:kind(X)=+apigen:subresource
and the arguments in the last column. The table has the stable kinds of k8s.io/api that have a status.

| kind | subresource | changes in metadata | marker's arguments |
| --- | --- | --- | --- |
`, recordedVersion(t, filepath.Join(exchange, "version.txt")))
	put := ""
	lines, markers := bufio.NewScanner(recorded), servedMarkers(t)
	for lines.Scan() {
		name, result, _ := strings.Cut(lines.Text(), ": ")
		words := strings.Fields(name) // v1 Pod status PUT
		if len(words) != 4 || !strings.HasPrefix(result, "changes ") {
			continue // the path of the object, or no such method
		}
		changes, _, _ := strings.Cut(result, ";")
		if words[3] != "PUT" {
			if changes != put {
				t.Errorf("the page says that all methods change the same: %s: %s, and %s by PUT", name, changes, put)
			}
			continue
		}
		put = changes
		fmt.Fprintf(&page, "| %s (%s) | %s | %s | %s |\n", words[1], words[0], words[2],
			cmp.Or(strings.Join(metadataOf(t, changes), ", "), "nothing"),
			cmp.Or(markers[words[1]+" "+words[2]], "no marker"))
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return page.String()
}

// recordedVersion returns the version in a recorded answer to GET /version.
func recordedVersion(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(data), `gitVersion: "`)
	version, _, _ = strings.Cut(version, `"`)
	return version
}

// metadataOf returns the members of metadata in "changes annotations part".
func metadataOf(t *testing.T, changes string) []string {
	t.Helper()
	names := strings.Fields(changes)[1:]
	if slices.Contains(names, "rest") {
		t.Errorf("the page says that no write changes other fields, and one %s", changes)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "part" })
}

var subresourceMarker = regexp.MustCompile(`\+apigen:kind\((\w+)\)=\+apigen:subresource:(name=(\w+).*)`)

// servedMarkers returns the arguments of the markers with which runtime/conformance serves the kinds, by kind and name.
func servedMarkers(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "runtime", "conformance", "builtin", "*", "*", "doc.go"))
	if err != nil || files == nil {
		t.Fatalf("no package serves the kinds: %v", err)
	}
	markers := map[string]string{}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range subresourceMarker.FindAllStringSubmatch(string(data), -1) {
			markers[m[1]+" "+m[3]] = "`" + m[2] + "`"
		}
	}
	return markers
}

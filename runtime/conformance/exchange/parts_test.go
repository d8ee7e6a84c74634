package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// partsOf is a kind in testdata/parts.yaml, with its subresources that are parts of the object.
type partsOf struct {
	APIVersion, Kind string
	// Path is that of the collection. Object is an object without metadata.
	Path   string
	Object map[string]any
	// Subresources are the changes that a write of each should make, and those that it shouldn't, as merge patches.
	Subresources map[string]struct{ Inside, Outside map[string]any }
}

func readParts(t testing.TB) (kinds []partsOf) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "parts.yaml"))
	if err == nil {
		err = yaml.UnmarshalStrict(data, &kinds)
	}
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// members are the members of metadata that a write of a subresource may change or not, before and after the write.
func members(n string) map[string]any {
	return map[string]any{
		"annotations": map[string]any{"a": n}, "finalizers": []any{"example.com/" + n},
		"labels": map[string]any{"l": n},
		"ownerReferences": []any{map[string]any{
			"apiVersion": "example.com/v1", "kind": "Owner", "name": "o", "uid": n,
		}},
	}
}

// partMethods are the ways to write a subresource.
var partMethods = []struct{ name, method, contentType string }{
	{"PUT", http.MethodPut, "application/json"},
	{"PATCH", http.MethodPatch, "application/merge-patch+json"},
	{"apply", http.MethodPatch, "application/apply-patch+yaml"},
}

// TestParts: a write of a part of an object changes and manages what it does in kube-apiserver.
func TestParts(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "parts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, result, _ := strings.Cut(strings.TrimSpace(line), ": ")
		theirs[name] = result
	}
	ours, _ := startBuiltin(t)
	for _, k := range readParts(t) {
		for _, row := range k.rows(t, ours) {
			name, got, _ := strings.Cut(row, ": ")
			want := theirs[name]
			if managesMore(name) { // what was changed is what is managed
				got, _, _ = strings.Cut(got, ";")
				want, _, _ = strings.Cut(want, ";")
			}
			if got != want {
				t.Errorf("%s:\n got %s\nwant %s", name, got, want)
			}
			delete(theirs, name)
		}
	}
	for name := range theirs {
		t.Errorf("%s was recorded, and isn't asked for", name)
	}
}

// managesMore tells the subresources where managedFields differ from what a write changed in kube-apiserver: those of
// pods, whose storage doesn't hand on the filter of their strategies, keep what was reverted, and the status of
// certificate signing requests doesn't list the conditions that it changes. Ours lists what a write changed.
func managesMore(name string) bool {
	return slices.ContainsFunc([]string{"Pod ephemeralcontainers", "Pod resize", "CertificateSigningRequest status"},
		func(part string) bool { return strings.Contains(name, " "+part+" ") })
}

// rows writes each subresource of a kind by each method, and returns what happened, a line a write.
func (k *partsOf) rows(t *testing.T, w *world) (rows []string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(k.Subresources)) {
		for i, m := range partMethods {
			row := fmt.Sprintf("%s %s %s %s:", k.APIVersion, k.Kind, name, m.name)
			rows = append(rows, row+" "+k.write(t, w, fmt.Sprintf("%s-%d", name, i), name, m.method, m.contentType))
		}
		if name != "status" {
			row := fmt.Sprintf("%s %s %s by a PUT of the object: ", k.APIVersion, k.Kind, name)
			rows = append(rows, row+k.writeObject(t, w, name+"-object", name))
		}
	}
	return rows
}

// writeObject writes the fields of a subresource through the path of the object.
func (k *partsOf) writeObject(t *testing.T, w *world, name, subresource string) string {
	t.Helper()
	before := k.create(t, w, name)
	part := k.Subresources[subresource].Inside
	code, after := w.do(t, http.MethodPut, k.Path+"/"+name, "application/json", merged(t, before, part))
	switch {
	case code != http.StatusOK:
		return fmt.Sprint(code)
	case holds(after, part):
		return "changes part"
	}
	return "changes nothing"
}

// create makes an object and returns it.
func (k *partsOf) create(t *testing.T, w *world, name string) map[string]any {
	t.Helper()
	made := maps.Clone(k.Object)
	metadata := members("1")
	metadata["name"] = name
	made["apiVersion"], made["kind"], made["metadata"] = k.APIVersion, k.Kind, metadata
	code, before := w.do(t, http.MethodPost, k.Path+"?fieldManager=creator", "application/json", made)
	if code != http.StatusCreated {
		t.Fatalf("%s %s: %d %v", k.Kind, name, code, before["message"])
	}
	return before
}

func (k *partsOf) write(t *testing.T, w *world, name, subresource, method, contentType string) string {
	t.Helper()
	before := k.create(t, w, name)
	change := map[string]any{"metadata": members("2")}
	part := k.Subresources[subresource]
	change = merged(t, merged(t, change, part.Outside), part.Inside)
	switch contentType {
	case "application/json":
		change = merged(t, before, change)
	case "application/apply-patch+yaml":
		change = merged(t, change, map[string]any{"apiVersion": k.APIVersion, "kind": k.Kind,
			"metadata": map[string]any{"name": name}})
	}
	query := "?fieldManager=writer"
	if strings.Contains(contentType, "apply") {
		query += "&force=true"
	}
	code, after := w.do(t, method, k.Path+"/"+name+"/"+subresource+query, contentType, change)
	if code != http.StatusOK {
		message := fmt.Sprint(after["message"])
		if code == http.StatusMethodNotAllowed {
			message = ""
		}
		return strings.TrimSpace(fmt.Sprintf("%d %s", code, message))
	}
	return fmt.Sprintf("changes %s; manages %s; leaves %s", list(k.changed(t, before, after, subresource)),
		list(managed(t, after, "writer", subresource)), list(managed(t, after, "creator", "")))
}

func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, " ")
}

// changed returns which members of metadata a write changed, and whether it changed the fields of the part and others.
func (k *partsOf) changed(t *testing.T, before, after map[string]any, subresource string) (names []string) {
	t.Helper()
	old, _ := before["metadata"].(map[string]any)
	now, _ := after["metadata"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members(""))) {
		if !reflect.DeepEqual(old[name], now[name]) {
			names = append(names, name)
		}
	}
	part := k.Subresources[subresource]
	if part.Inside != nil && !reflect.DeepEqual(merged(t, before, part.Inside), before) && holds(after, part.Inside) {
		names = append(names, "part")
	}
	if part.Outside != nil && holds(after, part.Outside) {
		names = append(names, "rest")
	}
	return names
}

// holds reports whether an object has all that a merge patch sets.
func holds(object, patch any) bool {
	p, ok := patch.(map[string]any)
	if !ok {
		return reflect.DeepEqual(object, patch)
	}
	o, _ := object.(map[string]any)
	for name, value := range p {
		if !holds(o[name], value) {
			return false
		}
	}
	return true
}

// managed returns the members of metadata and of the object of which a manager manages something.
func managed(t *testing.T, object map[string]any, manager, subresource string) (names []string) {
	t.Helper()
	metadata, _ := object["metadata"].(map[string]any)
	data, err := json.Marshal(metadata["managedFields"])
	if err != nil {
		t.Fatal(err)
	}
	var entries []metav1.ManagedFieldsEntry
	if err := json.Unmarshal(data, &entries); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Manager != manager || e.Subresource != subresource {
			continue
		}
		var fields map[string]map[string]any
		if err := json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields); err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(fields["f:metadata"])) {
			of, _ := fields["f:metadata"][name].(map[string]any)
			delete(of, ".") // the map or the list itself
			maps.DeleteFunc(of, func(key string, _ any) bool {
				return strings.Contains(key, ".io/") || strings.Contains(key, "deprecated")
			})
			if len(of) > 0 {
				names = append(names, strings.TrimPrefix(name, "f:"))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if name != "f:metadata" && manager == "writer" {
				names = append(names, strings.TrimPrefix(name, "f:"))
			}
		}
	}
	return names
}

func merged(t *testing.T, object, patch map[string]any) (out map[string]any) {
	t.Helper()
	x, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	if patch != nil {
		if x, err = jsonpatch.MergePatch(x, y); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(x, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// do sends an object and returns the answer.
func (w *world) do(t *testing.T, method, path, contentType string, object map[string]any) (int, map[string]any) {
	t.Helper()
	body, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, "https://"+w.host+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.token)
	request.Header.Set("Content-Type", contentType)
	transport := &http.Transport{TLSClientConfig: w.tls}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer := map[string]any{}
	if err := json.Unmarshal(data, &answer); err != nil {
		answer["message"] = strings.TrimSpace(string(data))
	}
	return response.StatusCode, answer
}

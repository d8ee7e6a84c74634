//go:build peer

package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const (
	jsonType  = "application/json"
	mergeType = "application/merge-patch+json"
	patchType = "application/json-patch+json"
	applyType = "application/apply-patch+yaml"
	smartType = "application/strategic-merge-patch+json"
)

// request is one that both servers get, each in a namespace of its own: $NS is its path in v1beta1, $OLD in v1alpha1.
type request struct {
	method, path, contentType, body, accept string
	// known is why the servers differ, and may.
	known string
}

// requests come one behind another: later ones find what earlier ones left.
var requests = []request{
	{"POST", "$NS/flunders", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"a"},"spec":{"flunderReference":"x","referenceType":"Flunder"}}`, "", ""},
	{"POST", "$NS/flunders", jsonType,
		`{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":"a"}}`, "", ""},
	{"POST", "$NS/flunders", jsonType, `{"metadata":{"name":"nokind"}}`, "", ""},
	{"POST", "$NS/flunders", jsonType,
		`{"apiVersion":"wardle.example.com/v1alpha1","kind":"Flunder","metadata":{"name":"version"}}`, "", ""},
	{"POST", "$NS/flunders", jsonType,
		`{"apiVersion":"wardle.example.com/v1beta1","kind":"Fischer","metadata":{"name":"kind"}}`, "", ""},
	{"POST", "$NS/flunders", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"Bad_Name"}}`, "", "upstream takes any name that fits a path"},
	{"DELETE", "$NS/flunders/Bad_Name", "", "", "", "ours did not take it"},
	{"POST", "$NS/flunders", jsonType,
		`{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{}}`, "", ""},
	{"POST", "$NS/flunders", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"b","namespace":"elsewhere"}}`, "", ""},
	{"POST", "$NS/flunders", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"b","resourceVersion":"5"}}`, "", "upstream calls what the client did an error of its own"},
	{"POST", "$NS/flunders", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"b","labels":{"bad label":"x"},"annotations":{"/":"x"},` +
		`"finalizers":["unqualified"]}}`, "", ""},
	{"POST", "$NS/flunders", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"b","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"","uid":""}]}}`, "", ""},
	{"POST", "$NS/flunders", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"b"},"spec":{"flunderReference":1}}`, "", ""},
	{"POST", "$NS/flunders", jsonType, `{`, "", ""},
	{"POST", "$NS/flunders", jsonType, ``, "", ""},
	{"POST", "$NS/flunders", "text/plain", `x`, "", ""},
	{"POST", "$NS/flunders?dryRun=Some", jsonType, `{}`, "", ""},
	{"POST", "$NS/flunders?fieldValidation=Some", jsonType, `{}`, "", ""},
	{"POST", "$NS/flunders?fieldValidation=Strict", jsonType, `{"apiVersion":"wardle.example.com/v1beta1",` +
		`"kind":"Flunder","metadata":{"name":"b"},"spek":{},"kind":"Flunder"}`, "", ""},
	{"POST", "$NS/flunders?dryRun=All", jsonType,
		`{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":"dry"}}`, "", ""},
	{"POST", "$NS/flunders/a", jsonType, `{}`, "", ""},
	{"GET", "$NS/flunders/a", "", "", "", ""},
	{"GET", "$OLD/flunders/a", "", "", "", ""},
	{"GET", "$NS/flunders/nobody", "", "", "", ""},
	{"GET", "$NS/nonsense", "", "", "", ""},
	{"GET", "$NS/flunders/a/nonsense", "", "", "", ""},
	{"GET", "/apis/wardle.example.com/v2/flunders", "", "", "", ""},
	{"GET", "$NS/flunders/a?resourceVersion=x", "", "", "", "upstream calls what the client did an error of its own"},
	{"GET", "$NS/flunders/a?resourceVersion=99999999", "", "", "", ""},
	{"GET", "$NS/flunders/a", "", "", "text/html", ""},
	{"GET", "$NS/flunders/a", "", "", "application/yaml", ""},
	{"GET", "$NS/flunders/a", "", "", "application/json;as=Table;v=v1;g=meta.k8s.io",
		"ours describes its columns in its own words, and tells ages"},
	{"GET", "$NS/flunders/a", "", "", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", ""},
	{"GET", "$NS/flunders", "", "", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", ""},
	{"GET", "$NS/flunders?labelSelector=a%20b%20c", "", "", "", ""},
	{"GET", "$NS/flunders?fieldSelector=spec.nonsense=1", "", "", "", ""},
	{"GET", "$NS/flunders?limit=x", "", "", "", ""},
	{"GET", "$NS/flunders?limit=-1", "", "", "", ""},
	{"GET", "$NS/flunders?continue=garbage", "", "", "", ""},
	{"GET", "$NS/flunders?resourceVersionMatch=Exact", "", "", "", ""},
	{"GET", "$NS/flunders?resourceVersion=0&resourceVersionMatch=Exact", "", "", "", ""},
	{"GET", "$NS/flunders?resourceVersion=1&resourceVersionMatch=Some", "", "", "", ""},
	{"GET", "$NS/flunders?sendInitialEvents=true", "", "", "", ""},
	{"GET", "$NS/flunders?watch=true&sendInitialEvents=true", "", "", "", ""},
	{"GET", "$NS/flunders?watch=true&resourceVersionMatch=Exact", "", "", "", ""},
	{"GET", "$NS/flunders?watch=true&resourceVersion=x", "", "", "",
		"upstream calls what the client did an error of its own"},
	{"GET", "$NS/flunders?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true&" +
		"resourceVersionMatch=NotOlderThan", "", "", "", ""},
	{"PUT", "$NS/flunders/a", jsonType,
		`{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":"b"}}`, "", ""},
	{"PUT", "$NS/flunders/nobody", jsonType,
		`{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":"nobody"}}`, "", ""},
	{"PUT", "$NS/flunders/nobody", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"nobody","resourceVersion":"1"}}`, "", ""},
	{"PUT", "$NS/flunders/a", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"a","resourceVersion":"1"}}`, "", ""},
	{"PUT", "$NS/flunders/a", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"a","resourceVersion":"x"}}`, "", "upstream calls what the client did an error of its own"},
	{"PUT", "$NS/flunders/a", jsonType,
		`{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":"a","uid":"another"}}`, "", ""},
	{"PUT", "$NS/flunders", jsonType, `{}`, "", ""},
	{"PATCH", "$NS/flunders/a", mergeType, `{"metadata":{"labels":{"a":"b"}}}`, "", ""},
	{"PATCH", "$NS/flunders/a", mergeType, `{"metadata":{"name":"other"}}`, "", ""},
	{"PATCH", "$NS/flunders/a", mergeType, `{"metadata":{"namespace":"other"}}`, "", ""},
	{"PATCH", "$NS/flunders/a", mergeType, `{"metadata":{"uid":"other"}}`, "", ""},
	{"PATCH", "$NS/flunders/a", mergeType, `{"metadata":{"resourceVersion":"1"}}`, "", ""},
	{"PATCH", "$NS/flunders/a", mergeType, `{"metadata":{"creationTimestamp":"2020-01-01T00:00:00Z"}}`, "", ""},
	{"PATCH", "$NS/flunders/a", mergeType, `{"kind":"Other"}`, "", ""},
	{"PATCH", "$NS/flunders/a", mergeType, `{"spec":{"flunderReference":1}}`, "", ""},
	{"PATCH", "$NS/flunders/a", mergeType, `[]`, "", ""},
	{"PATCH", "$NS/flunders/a", mergeType, `garbage`, "", ""},
	{"PATCH", "$NS/flunders/a", patchType, `{}`, "", ""},
	{"PATCH", "$NS/flunders/a", patchType, `[{"op":"nonsense","path":"/x"}]`, "", ""},
	{"PATCH", "$NS/flunders/a", patchType, `[{"op":"test","path":"/metadata/name","value":"b"}]`, "", ""},
	{"PATCH", "$NS/flunders/a", patchType, `[{"op":"remove","path":"/spec/none"}]`, "", ""},
	{"PATCH", "$NS/flunders/a", patchType, `[{"op":"replace","path":"/spec/flunderReference","value":"p"}]`, "", ""},
	{"PATCH", "$NS/flunders/a?force=true", mergeType, `{}`, "", ""},
	{"PATCH", "$NS/flunders/nobody", mergeType, `{}`, "", ""},
	{"PATCH", "$NS/flunders/a", jsonType, `{}`, "", ""},
	{"PATCH", "$NS/flunders", mergeType, `{}`, "", ""},
	{"DELETE", "$NS/flunders/nobody", "", "", "", ""},
	{"DELETE", "$NS/flunders/a", jsonType, `{"preconditions":{"uid":"another"}}`, "", ""},
	{"DELETE", "$NS/flunders/a", jsonType, `{"preconditions":{"resourceVersion":"1"}}`, "", ""},
	{"DELETE", "$NS/flunders/a", jsonType, `{"propagationPolicy":"Nonsense"}`, "", ""},
	{"DELETE", "$NS/flunders/a", jsonType, `{"propagationPolicy":"Orphan","orphanDependents":true}`, "", ""},
	{"DELETE", "$NS/flunders/a", jsonType, `{"kind":"Flunder","apiVersion":"wardle.example.com/v1beta1"}`, "", ""},
	{"DELETE", "$NS/flunders/a", jsonType, `garbage`, "", ""},
	{"DELETE", "$NS/flunders/a?dryRun=All", "", "", "", ""},
	{"GET", "$NS/flunders/a", "", "", "", ""},
	{"DELETE", "$NS/flunders/a", "", "", "", ""},
	{"PATCH", "$NS/flunders/a", mergeType, `{"metadata":{"finalizers":["example.com/new"]}}`, "", ""},
	{"PATCH", "$NS/flunders/a", mergeType, `{"metadata":{"finalizers":null}}`, "", ""},
	{"DELETE", "$NS/flunders/a", "", "", "", ""},
	{"DELETE", "$NS/flunders?labelSelector=a%20b%20c", "", "", "", ""},
	{"DELETE", "$NS/flunders", "", "", "", ""},
	{"OPTIONS", "$NS/flunders", "", "", "", ""},
	{"GET", "/apis/wardle.example.com/v1alpha1/namespaces/x/fischers", "", "", "", ""},
	{"GET", "/apis/wardle.example.com/v1beta1/flunders/a", "", "", "", ""},
	{"GET", "/apis/wardle.example.com", "", "", "", ""},
	{"GET", "/apis/wardle.example.com/v1alpha1", "", "", "", "ours has /status for kinds with a status"},
	{"GET", "/apis/wardle.example.com/v1beta1", "", "", "", "ours has /status for kinds with a status"},
	{"GET", "/api", "", "", "", "upstream lists its paths"},
	{"GET", "/nonsense", "", "", "", "upstream lists its paths"},
	{"GET", "/healthz", "", "", "", ""},
	{"GET", "/livez", "", "", "", ""},
	{"POST", "$NS/flunders", jsonType,
		`{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":"parent"}}`, "", ""},
	{"DELETE", "$NS/flunders/parent?propagationPolicy=Foreground", "", "", "", ""},
}

// applied is a flunder s as clients apply it: more of its metadata, and its spec.
func applied(metadata, spec string) string {
	return `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":"s"` + metadata +
		`},"spec":` + spec + `}`
}

const own = "$NS/flunders/s?fieldManager="

// applies come one behind another, in the same namespaces.
var applies = []request{
	{"PATCH", "$NS/flunders/s", applyType, applied("", `{}`), "", ""},
	{"PATCH", own + strings.Repeat("x", 129), applyType, applied("", `{}`), "", ""},
	{"PATCH", own + "m", "application/apply-patch+cbor", "x", "", "upstream has CBOR behind a feature gate"},
	{"PATCH", own + "m", applyType, ``, "", ""},
	{"PATCH", own + "m", applyType, `garbage: [`, "", ""},
	{"PATCH", own + "m", applyType, `[]`, "", ""},
	{"PATCH", own + "m", applyType, `{"metadata":{"name":"s"}}`, "", ""},
	{"PATCH", own + "m", applyType, strings.Replace(applied("", `{}`), "v1beta1", "v1alpha1", 1), "", ""},
	{"PATCH", own + "m", applyType, strings.Replace(applied("", `{}`), "Flunder", "Fischer", 1), "", ""},
	{"PATCH", own + "m", applyType, strings.Replace(applied("", `{}`), `"s"`, `"other"`, 1), "", ""},
	{"PATCH", own + "m", applyType, strings.Replace(applied("", `{}`), `"name":"s"`, ``, 1), "", ""},
	{"PATCH", own + "m", applyType, applied(`,"uid":"u"`, `{}`), "", ""},
	{"PATCH", own + "m&dryRun=All", applyType,
		applied("", `{"flunderReference":"x","referenceType":"Flunder"}`), "", ""},
	{"GET", "$NS/flunders/s", "", "", "", ""},
	{"PATCH", own + "m", applyType,
		applied(`,"labels":{"x":"1","y":"1"}`, `{"flunderReference":"x","referenceType":"Flunder"}`), "", ""},
	{"PATCH", own + "m", applyType,
		applied(`,"labels":{"x":"1","y":"1"}`, `{"flunderReference":"x","referenceType":"Flunder"}`), "", ""},
	{"PATCH", own + "n", applyType, applied(`,"labels":{"x":"1"}`, `{"flunderReference":"x"}`), "", ""},
	{"PATCH", own + "n", applyType, applied(`,"labels":{"x":"2"}`, `{"flunderReference":"y"}`), "", ""},
	{"PATCH", own + "n&force=true", applyType, applied(`,"labels":{"x":"2"}`, `{"flunderReference":"y"}`), "", ""},
	{"PATCH", own + "n&force=perhaps", applyType, applied("", `{}`), "", ""},
	{"PATCH", own + "m", applyType, applied(`,"labels":{"y":"1"}`, `{"referenceType":"Flunder"}`), "", ""},
	{"PATCH", own + "m", applyType, applied(``, `{"referenceType":"Flunder"}`), "", ""},
	{"GET", "$OLD/flunders/s", "", "", "", ""},
	{"PATCH", "$OLD/flunders/s?fieldManager=o", applyType, strings.Replace(applied("", `{"reference":"z"}`), "v1beta1",
		"v1alpha1", 1), "", ""},
	{"PATCH", "$OLD/flunders/s?fieldManager=o&force=true", applyType,
		strings.Replace(applied("", `{"reference":"z"}`), "v1beta1", "v1alpha1", 1), "", ""},
	{"PATCH", own + "n", applyType, applied("", `{}`), "", ""},
	{"PATCH", own + "m", applyType, applied(`,"managedFields":[]`, `{}`), "", ""},
	{"PATCH", own + "m", applyType, applied(`,"resourceVersion":"1"`, `{}`), "", ""},
	{"PATCH", own + "m", applyType, applied("", `{"nonsense":1}`), "",
		"upstream calls what the client did an error of its own"},
	{"PATCH", own + "m", applyType, applied("", `{"flunderReference":1}`), "",
		"upstream calls what the client did an error of its own"},
	{"PATCH", own + "m&fieldValidation=Strict", applyType,
		"apiVersion: wardle.example.com/v1beta1\nkind: Flunder\nkind: Flunder\nmetadata: {name: s}\n", "", ""},
	{"PATCH", own + "m", applyType, "apiVersion: wardle.example.com/v1beta1\nkind: Flunder\nkind: Flunder\n" +
		"metadata: {name: s}\nspec: {referenceType: Flunder}\n", "", ""},
	{"PATCH", own + "patcher", mergeType, `{"metadata":{"labels":{"z":"1"},"annotations":{"note":"x"}}}`, "", ""},
	{"PATCH", own + "patcher", mergeType, `{"metadata":{"labels":{"z":"1"}}}`, "", ""},
	{"PATCH", own + "smart", smartType,
		`{"metadata":{"finalizers":["example.com/a","example.com/b"],"labels":{"w":"1"}}}`, "", ""},
	{"PATCH", own + "smart", smartType,
		`{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/a","example.com/b"]}}`, "", ""},
	{"PATCH", own + "smart", smartType, `{"metadata":{"ownerReferences":[{"name":"n"}]}}`, "",
		"upstream names each cause twice"},
	{"PATCH", own + "smart", smartType, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p",` +
		`"uid":"1"},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"2"}]}}`, "", ""},
	{"PATCH", own + "smart", smartType, `{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"1"}]}}`, "", ""},
	{"PATCH", own + "smart", smartType, `{"spec":{"$patch":"nonsense"}}`, "",
		"upstream calls what the client did an error of its own"},
	{"PATCH", own + "smart", smartType,
		`{"spec":{"$retainKeys":["flunderReference"],"referenceType":"Flunder"}}`, "", ""},
	{"PATCH", own + "smart", smartType, `{"spec":{"flunderReference":1}}`, "", ""},
	{"PATCH", own + "smart", smartType, `[]`, "", ""},
	{"PATCH", own + "smart", smartType, `garbage`, "", ""},
	{"PATCH", own + "smart&fieldValidation=Strict", smartType, `{"spec":{"nonsense":1}}`, "", ""},
	{"PATCH", own + "putter", mergeType, `{"metadata":{"labels":{"w":"2","x":null,"y":null,"z":null}},` +
		`"spec":{"flunderReference":"put","referenceType":"Flunder"}}`, "", ""},
	{"PATCH", own + "putter", mergeType,
		`{"metadata":{"managedFields":[{"manager":"broken"}]},"spec":{"flunderReference":"again"}}`, "", ""},
	{"PATCH", own + "kubectl", applyType, applied("", `{"flunderReference":"k"}`), "", ""},
	{"PATCH", own + "putter", patchType, `[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`, "", ""},
	{"PATCH", own + "m", applyType, applied(``, `{"referenceType":"Fischer","fischerReference":"f"}`), "", ""},
	{"GET", "$NS/flunders/s", "", "", "", ""},
	{"DELETE", "$NS/flunders/s", "", "", "", ""},
	{"PATCH", own + "m", applyType, applied(`,"resourceVersion":"1"`, `{}`), "", ""},
}

// TestPeerAnswers: both servers answer alike, to requests of all kinds.
func TestPeerAnswers(t *testing.T) {
	p := startPair(t)
	for _, r := range slices.Concat(requests, applies, writes) {
		theirs, ours := r.send(t, p.theirs, "theirs"), r.send(t, p.ours, "ours")
		diff := cmp.Diff(theirs, ours)
		switch {
		case r.known != "" && diff == "":
			t.Errorf("%s %s %s: they don't differ any more: %s", r.method, r.path, r.body, r.known)
		case r.known == "" && diff != "":
			t.Errorf("%s %s %s %s (-theirs +ours):\n%s", r.method, r.path, r.body, r.accept, diff)
		}
	}
}

// answered is what both must have in common. Messages are ours.
type answered struct {
	Code               int
	Type               string
	Reason             metav1.StatusReason
	Kind, Name, Causes string
	Body               any
	Warnings           []string
}

func (r request) send(t *testing.T, config *rest.Config, namespace string) answered {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.NewReplacer("$NS", "/apis/wardle.example.com/v1beta1/namespaces/"+
		namespace, "$OLD", "/apis/wardle.example.com/v1alpha1/namespaces/"+namespace).Replace(r.path)
	request, err := http.NewRequestWithContext(t.Context(), r.method, config.Host+path, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": r.contentType, "Accept": r.accept} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(body), `"`+namespace+`"`, `"namespace"`)
	got := answered{Code: response.StatusCode, Type: response.Header.Get("Content-Type"),
		Warnings: warnings(response.Header)}
	var status metav1.Status
	var object any
	switch err := json.Unmarshal([]byte(text), &status); {
	case err == nil && status.Kind == "Status":
		got.of(&status)
	case json.Unmarshal([]byte(text), &object) == nil:
		got.Body = neutral(object)
	}
	return got
}

// warnings leaves out that upstream's old version is deprecated, which its types say in Go.
func warnings(header http.Header) []string {
	return slices.DeleteFunc(append([]string{}, header.Values("Warning")...),
		func(text string) bool { return strings.Contains(text, " is deprecated in ") })
}

func (a *answered) of(status *metav1.Status) {
	a.Reason = status.Reason
	if d := status.Details; d != nil {
		a.Kind, a.Name = strings.TrimSuffix(d.Group+"/"+d.Kind, "/"), d.Name
		for _, cause := range d.Causes {
			a.Causes += fmt.Sprintf("%s %s; ", cause.Type, cause.Field)
		}
	}
}

// neutral drops what can't be alike: times, identities, revisions.
func neutral(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range []string{
			"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "generation",
		} {
			delete(v, name)
		}
		if owners, ok := v["managedFields"].([]any); ok {
			for _, owner := range owners {
				delete(owner.(map[string]any), "time")
			}
			slices.SortFunc(owners, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		for name := range v {
			v[name] = neutral(v[name])
		}
	case []any:
		for i := range v {
			v[i] = neutral(v[i])
		}
	}
	return value
}

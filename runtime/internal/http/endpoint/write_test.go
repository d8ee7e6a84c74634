package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	collectionPath = base + "/namespaces/n/widgets"
	itemPath       = collectionPath + "/a"
)

func TestCreateHandsOver(t *testing.T) {
	a, fakes := serve(t, widgets)
	f := fakes[0]
	f.result.Warnings = []string{`unknown field "spec.x"`}
	w := do(a, "POST", collectionPath+"?dryRun=All&fieldManager=me&fieldValidation=Strict&unknown=1", `{"a":1}`,
		"Content-Type", "application/json; charset=utf-8")
	if w.Code != 201 || string(f.body.Data) != `{"a":1}` || f.body.Version != "v1" || f.body.Validation != "Strict" ||
		!f.write.DryRun || f.write.FieldManager != "me" {
		t.Errorf("%d %+v %+v", w.Code, f.body, f.write)
	}
	if got := w.Header()["Warning"]; !slices.Equal(got, []string{`299 - "unknown field \"spec.x\""`}) {
		t.Error(got)
	}
	do(a, "POST", collectionPath, `{}`, "User-Agent", "kubectl\x01/v1 (linux)")
	if f.write.DryRun || f.write.FieldManager != "kubectl" || f.body.Validation != "Warn" {
		t.Errorf("%+v %+v", f.body, f.write)
	}
}

func TestUpdateMayCreate(t *testing.T) {
	a, fakes := serve(t, widgets)
	if w := do(a, "PUT", itemPath, `{}`); w.Code != 200 {
		t.Error(w.Code)
	}
	fakes[0].result.Created = true
	if w := do(a, "PUT", itemPath, `{}`); w.Code != 201 {
		t.Error(w.Code)
	}
}

func TestFailuresKeepTheirWarnings(t *testing.T) {
	a, fakes := serve(t, widgets)
	fakes[0].fail = apierrors.NewConflict(widgets.GroupResource(), "a", fmt.Errorf("changed"))
	w := do(a, "PUT", itemPath, "a: 1\na: 2\n", "Content-Type", "application/yaml")
	if w.Code != 409 || w.Header().Get("Warning") == "" {
		t.Error(w.Code, w.Header())
	}
}

func TestYAMLBodies(t *testing.T) {
	bomb := "a: &a [_,_,_,_,_,_,_,_,_]\n"
	for _, next := range "bcdefghijklm" {
		before := string(next - 1)
		bomb += fmt.Sprintf("%c: &%c [%s]\n", next, next, strings.TrimSuffix(strings.Repeat("*"+before+",", 9), ","))
	}
	long := "a: &a " + strings.Repeat("x", 100000) + "\nb: [" + strings.TrimSuffix(strings.Repeat("*a,", 1000),
		",") + "]\n"
	cases := []struct {
		name, query, body string
		code              int
		data, warning     string
	}{
		{"plain", "", "a: 1\nb: [x, z]\n", 201, `{"a":1,"b":["x","z"]}`, ""},
		{"aliases", "", "a: &a {x: 1}\nb: *a\n", 201, `{"a":{"x":1},"b":{"x":1}}`, ""},
		{"stars and ampersands in text", "", "a: 'x & y * z'\n", 201, "{\"a\":\"x \\u0026 y * z\"}", ""},
		{"twice", "", "a: 1\na: 2\n", 201, `{"a":2}`, `299 - "line 2: key \"a\" already set in map"`},
		{"twice, ignored", "?fieldValidation=Ignore", "a: 1\na: 2\n", 201, `{"a":2}`, ""},
		{"twice, strict", "?fieldValidation=Strict", "a: 1\na: 2\n", 201, `{"a":2}`, ""}, // the handle's to refuse
		{"tab", "", "kind:\tx\n\tx", 400, "", ""},
		{"bomb", "", bomb, 400, "", ""},
		{"long bomb", "", long, 400, "", ""},
		{"itself", "", "a: &a [*a]\n", 400, "", ""},
		{"unknown alias", "", "a: &b 1\nc: *d\n", 400, "", ""},
		{"deep", "", "x: " + strings.Repeat("[a,", 100000) + "a" + strings.Repeat("]", 100000), 400, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a, fakes := serve(t, widgets)
			w := do(a, "POST", collectionPath+c.query, c.body, "Content-Type", "application/yaml")
			if w.Code != c.code || string(fakes[0].body.Data) != c.data || w.Header().Get("Warning") != c.warning {
				t.Errorf("%d %s %v %s", w.Code, fakes[0].body.Data, w.Header(), w.Body)
			}
			if c.code == 400 && statusIn(t, w).Reason != metav1.StatusReasonBadRequest {
				t.Error(w.Body)
			}
		})
	}
}

func TestRefusedBodies(t *testing.T) {
	deep := `{"x":` + strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20001)
	inString := `{"x":"` + strings.Repeat(`\"[{`, 20000) + `"}`
	big := `{"x":"` + strings.Repeat("x", 1<<20) + `"}`
	const unknown = "the body of the request was in an unknown format - accepted media types include: "
	cases := []struct {
		name, method, path, body, contentType, encoding string
		code                                            int
		reason                                          metav1.StatusReason
		message                                         string
	}{
		{"text", "POST", collectionPath, "{}", "text/plain", "", 415, metav1.StatusReasonUnsupportedMediaType,
			unknown + "application/json, application/yaml, application/cbor"},
		{"protobuf", "PUT", itemPath, "k8s", "application/vnd.kubernetes.protobuf", "", 415,
			metav1.StatusReasonUnsupportedMediaType, unknown + "application/json, application/yaml, application/cbor"},
		{"patch as JSON", "PATCH", itemPath, "{}", "application/json", "", 415,
			metav1.StatusReasonUnsupportedMediaType, unknown +
				"application/json-patch+json, application/merge-patch+json, " +
				"application/strategic-merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor"},
		{"patch of no type", "PATCH", itemPath, "{}", "", "", 415, metav1.StatusReasonUnsupportedMediaType, ""},
		{"apply in CBOR that is none", "PATCH", itemPath + "?fieldManager=m", "\xa1",
			"application/apply-patch+cbor", "", 400, metav1.StatusReasonBadRequest, "error decoding CBOR: " +
				"unexpected EOF"},
		{"apply by nobody", "PATCH", itemPath, "{}", "application/apply-patch+yaml", "", 422,
			metav1.StatusReasonInvalid,
			`PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`},
		{"forced merge", "PATCH", itemPath + "?force=true", "{}", "application/merge-patch+json", "", 422,
			metav1.StatusReasonInvalid,
			`PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch`},
		{"gzip", "POST", collectionPath, "\x1f\x8b", "application/json", "gzip", 415,
			metav1.StatusReasonUnsupportedMediaType, ""},
		{"options in gzip", "DELETE", itemPath, "\x1f\x8b", "application/json", "gzip", 415,
			metav1.StatusReasonUnsupportedMediaType, ""},
		{"too large", "POST", collectionPath, big, "", "", 413, metav1.StatusReasonRequestEntityTooLarge,
			"Request entity too large: limit is 1048576"},
		{"patch too large", "PATCH", itemPath, big, "application/merge-patch+json", "", 413,
			metav1.StatusReasonRequestEntityTooLarge, ""},
		{"deep", "POST", collectionPath, deep, "", "", 400, metav1.StatusReasonBadRequest, ""},
		{"deep in a string", "POST", collectionPath, inString, "", "", 201, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a, fakes := serve(t, widgets)
			w := do(a, c.method, c.path, c.body, "Content-Type", c.contentType, "Content-Encoding", c.encoding)
			if w.Code != c.code || (c.code < 300) != (fakes[0].asked != "") {
				t.Fatalf("%d %q %s", w.Code, fakes[0].asked, w.Body)
			}
			if c.code < 300 {
				return
			}
			if status := statusIn(t, w); status.Reason != c.reason || c.message != "" && status.Message != c.message {
				t.Errorf("%+v", status)
			}
		})
	}
}

// endless is a body that never ends, and counts what was read of it.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) { e.read += len(b); return len(b), nil }

func TestEndlessBodiesStopAtTheLimit(t *testing.T) {
	a, _ := serve(t, widgets)
	body := &endless{}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, collectionPath, body)
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	if w.Code != 413 || body.read > 3<<20 || w.Header().Get("Connection") != "close" {
		t.Errorf("%d after %d bytes", w.Code, body.read)
	}
}

func TestAnnouncedLengthsAreBelieved(t *testing.T) {
	a, _ := serve(t, widgets)
	body := &endless{}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, collectionPath, body)
	r.ContentLength = 1 << 40
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	if w.Code != 413 || body.read > 0 {
		t.Errorf("%d after %d bytes", w.Code, body.read)
	}
}

func TestDeleteAnswers(t *testing.T) {
	a, fakes := serve(t, widgets)
	fakes[0].deletion = verb.Deletion{Object: fakes[0].object, UID: "u-1", Done: true}
	w := do(a, "DELETE", itemPath, "", "Accept", asTable+",application/json")
	const gone = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"a",` +
		`"group":"shop.example.com","kind":"widgets","uid":"u-1"}}` + "\n"
	if w.Code != 200 || w.Body.String() != gone {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	fakes[0].deletion.Done = false
	if w = do(a, "DELETE", itemPath, ""); w.Code != 200 || !strings.HasPrefix(w.Body.String(), `{"kind":"Widget"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w = do(a, "DELETE", itemPath, `{"orphanDependents":false}`); w.Code != 202 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	fakes[0].deletion.Pending = true
	if w = do(a, "DELETE", itemPath, ""); w.Code != 200 || w.Body.String() != gone {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w = do(a, "DELETE", itemPath, `{"orphanDependents":false}`); w.Code != 202 || w.Body.String() != gone {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	fakes[0].deletion = verb.Deletion{Object: fakes[0].object, Done: true, Shown: true}
	if w = do(a, "DELETE", itemPath, ""); w.Code != 200 || !strings.HasPrefix(w.Body.String(), `{"kind":"Widget"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// What can't be read is deleted by those who may, by name, and with no other option.
func TestDeleteUnreadable(t *testing.T) {
	const ignore = `{"ignoreStoreReadErrorWithClusterBreakingPotential":true}`
	a, fakes := serve(t, widgets)
	fakes[0].deletion.Done = true
	if w := do(a, "DELETE", itemPath, ignore); w.Code != 403 || fakes[0].asked != "" {
		t.Errorf("nobody may: %d %s", w.Code, w.Body)
	}
	asked := 0
	a.unsafeDelete = func(*http.Request) error { asked++; return nil }
	for _, c := range []struct {
		path, body string
		code       int
		message    string
	}{
		{collectionPath, ignore, 422, "is not allowed with DELETECOLLECTION"},
		{itemPath, `{"ignoreStoreReadErrorWithClusterBreakingPotential":true,"preconditions":{"uid":"u"}}`, 422,
			"cannot be set together with .preconditions"},
		{itemPath, `{"ignoreStoreReadErrorWithClusterBreakingPotential":true,"gracePeriodSeconds":0}`, 422,
			"cannot be set together with .gracePeriodSeconds"},
		{itemPath, `{"ignoreStoreReadErrorWithClusterBreakingPotential":true,"propagationPolicy":"Background"}`,
			422, "cannot be set together with .propagationPolicy"},
		{itemPath, `{"ignoreStoreReadErrorWithClusterBreakingPotential":true,"orphanDependents":true}`, 422,
			"cannot be set together with .orphanDependents"},
		{itemPath, ignore, 200, `"status":"Success"`},
		{itemPath + "?ignoreStoreReadErrorWithClusterBreakingPotential=true", "", 200, `"status":"Success"`},
	} {
		fakes[0].asked, fakes[0].remove = "", verb.DeleteOptions{}
		w := do(a, "DELETE", c.path, c.body)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.message) {
			t.Errorf("%s %s: %d %s", c.path, c.body, w.Code, w.Body)
		}
		if passed := fakes[0].remove.IgnoreReadErrors; passed != (c.code == 200) {
			t.Errorf("%s %s: passed on: %v", c.path, c.body, passed)
		}
	}
	if asked != 2 {
		t.Errorf("%d questions were asked", asked)
	}
	do(a, "DELETE", itemPath, `{"ignoreStoreReadErrorWithClusterBreakingPotential":false}`)
	if asked != 2 || fakes[0].remove.IgnoreReadErrors {
		t.Error("false means no")
	}
}

func TestDeleteOptions(t *testing.T) {
	const options = `{"apiVersion":"shop.example.com/v1","kind":"DeleteOptions","propagationPolicy":"Orphan",` +
		`"gracePeriodSeconds":5,"dryRun":["All"],"preconditions":{"uid":"u","resourceVersion":"3"}}`
	const asYAML = "propagationPolicy: Orphan\ngracePeriodSeconds: 5\ndryRun: [All]\npreconditions: {uid: u, " +
		"resourceVersion: \"3\"}\n"
	for _, c := range []struct{ query, body, contentType string }{
		{"", options, ""}, {"?propagationPolicy=Bogus", options, "application/json"}, {"", asYAML, "application/yaml"},
	} {
		a, fakes := serve(t, widgets)
		w := do(a, "DELETE", itemPath+c.query, c.body, "Content-Type", c.contentType)
		got := fakes[0].remove
		if w.Code != 200 || !got.DryRun || *got.Propagation != metav1.DeletePropagationOrphan ||
			*got.GracePeriodSeconds != 5 ||
			*got.Preconditions.UID != "u" || *got.Preconditions.ResourceVersion != "3" {
			t.Errorf("%s: %d %+v %s", c.body, w.Code, got, w.Body)
		}
	}
	for _, path := range []string{itemPath, collectionPath} {
		a, fakes := serve(t, widgets)
		const query = "?dryRun=All&propagationPolicy=Foreground&gracePeriodSeconds=1"
		w := do(a, "DELETE", path+query, `{"propagationPolicy":"Orphan"}`)
		got := fakes[0].remove
		if w.Code != 200 || got.DryRun || got.GracePeriodSeconds != nil ||
			*got.Propagation != metav1.DeletePropagationOrphan {
			t.Errorf("%s with a body and a query: %d %+v", path, w.Code, got)
		}
	}
	a, fakes := serve(t, widgets)
	do(a, "DELETE", collectionPath+"?propagationPolicy=Foreground&gracePeriodSeconds=0&labelSelector=a%3Db"+
		"&fieldSelector=spec.color%3Dred", "")
	got := fakes[0]
	if *got.remove.Propagation != metav1.DeletePropagationForeground || *got.remove.GracePeriodSeconds != 0 ||
		got.remove.DryRun ||
		got.list.Labels.String() != "a=b" || got.list.Fields.String() != "spec.color=red" {
		t.Errorf("%+v %+v", got.remove, got.list)
	}
}

func TestRefusedDeleteOptions(t *testing.T) {
	for _, c := range []struct {
		path, body string
		code       int
	}{
		{itemPath, `{"propagationPolicy":"Bogus"}`, 422},
		{itemPath + "?propagationPolicy=Bogus", "", 422},
		{itemPath, `{"dryRun":["some"]}`, 422},
		{itemPath, `{"propagationPolicy":"Orphan","orphanDependents":true}`, 422},
		{itemPath, `{"kind":"Widget"}`, 400},
		{itemPath, `{"kind":"Status","apiVersion":"v1"}`, 400},
		{itemPath, `{"kind":"ListOptions","apiVersion":"meta.k8s.io/v1"}`, 400},
		{itemPath, `{"kind":"DeleteOptions","apiVersion":"a/b/c"}`, 400},
		{collectionPath, `{"kind":"Status","apiVersion":"v1"}`, 400},
		{itemPath, `{`, 400},
		{itemPath, `[1]`, 400},
		{itemPath, `{"gracePeriodSeconds":"x"}`, 400},
		{itemPath + "?gracePeriodSeconds=x", "", 400},
		{collectionPath + "?labelSelector=%21%21", "", 400},
		{collectionPath, `{"propagationPolicy":"Bogus"}`, 422},
	} {
		a, fakes := serve(t, widgets)
		if w := do(a, "DELETE", c.path, c.body); w.Code != c.code || fakes[0].asked != "" {
			t.Errorf("%s %s: %d %s", c.path, c.body, w.Code, w.Body)
		}
	}
}

// TestErrorsOfWritesComeBeforeNotAcceptable: a write whose answer can't be given isn't made, but an error that it meets
// is the answer.
func TestErrorsOfWritesComeBeforeNotAcceptable(t *testing.T) {
	const (
		ofList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
		ofOne  = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
		patch  = "application/merge-patch+json"
	)
	failures := map[error]int{
		nil: 406,
		apierrors.NewNotFound(widgets.GroupResource(), "a"):                      404,
		apierrors.NewAlreadyExists(widgets.GroupResource(), "a"):                 409,
		apierrors.NewConflict(widgets.GroupResource(), "a", errors.New("older")): 409,
	}
	for name, c := range map[string]struct{ method, path, accept, contentType, body string }{
		"create":              {"POST", collectionPath, ofList, "application/json", "{}"},
		"update":              {"PUT", itemPath, ofList, "application/json", "{}"},
		"update of a part":    {"PUT", itemPath + "/status", ofList, "application/json", "{}"},
		"patch":               {"PATCH", itemPath, ofList, patch, "{}"},
		"delete":              {"DELETE", itemPath, ofList, "application/json", ""},
		"delete a collection": {"DELETE", collectionPath, ofOne, "application/json", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for fail, code := range failures {
				a, fakes := serve(t, widgets)
				fakes[0].fail = fail
				w := do(a, c.method, c.path, c.body, "Accept", c.accept, "Content-Type", c.contentType)
				dry := fakes[0].write.DryRun || fakes[0].remove.DryRun
				if w.Code != code || !dry || fakes[0].openPages != 0 {
					t.Errorf("%v: %d, asked %q, a dry run: %t: %s", fail, w.Code, fakes[0].asked, dry, w.Body)
				}
			}
			a, fakes := serve(t, widgets)
			w := do(a, c.method, c.path+"?dryRun=None", c.body, "Accept", c.accept, "Content-Type", c.contentType)
			if fakes[0].asked != "" || w.Code != 400 && w.Code != 422 {
				t.Errorf("bad options: %d, asked %q: %s", w.Code, fakes[0].asked, w.Body)
			}
			w = do(a, c.method, c.path, c.body, "Accept", "text/plain", "Content-Type", c.contentType)
			if fakes[0].asked != "" || w.Code != 406 {
				t.Errorf("text: %d, asked %q: %s", w.Code, fakes[0].asked, w.Body)
			}
		})
	}
}

package access

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// localService is an APIService of a version that the aggregator serves itself.
type localService struct {
	Metadata struct {
		Name   string
		Labels map[string]string
		UID    string
	}
	Spec struct {
		Group, Version                        string
		GroupPriorityMinimum, VersionPriority int
		Service                               any
	}
}

const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
	"metadata":{"name":"odds.crd.behind.example.com"},"spec":{"group":"crd.behind.example.com","scope":"Cluster",
	"names":{"plural":"odds","kind":"Odd"},"versions":[
	{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},
	{"name":"v2beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`

// locals asks for the APIServices of versions that the aggregator serves itself.
func locals(t *testing.T, w *world) {
	w.create(t, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
	const custom, builtin = "v1.crd.behind.example.com", "v1.coordination.k8s.io"
	w.untilCondition(t, custom, "True")
	w.untilCondition(t, "v2beta1.crd.behind.example.com", "True")
	w.untilCondition(t, builtin, "True")
	w.describeLocals(t)
	w.add("locals: the group itself", func() string {
		code, _ := w.get(t, apiservices+"/v1.apiregistration.k8s.io")
		return fmt.Sprint(code)
	}())
	for what, name := range map[string]string{"custom": custom, "builtin": builtin} {
		w.editLocal(t, what+", priority", name, `{"spec":{"versionPriority":7}}`)
		w.editLocal(t, what+", label away",
			name, `{"metadata":{"labels":{"kube-aggregator.kubernetes.io/automanaged":null}}}`)
		w.editLocal(t, what+", priority without label", name, `{"spec":{"groupPriorityMinimum":7}}`)
		w.deleteLocal(t, what+", without label", name)
	}
	w.editLocal(t, "custom, label changed", custom,
		`{"metadata":{"labels":{"kube-aggregator.kubernetes.io/automanaged":"onstart","own":"1"}}}`)
	w.deleteLocal(t, "custom", custom)
	w.deleteLocal(t, "builtin v1.batch", "v1.batch")
	w.deleteLocal(t, "builtin v1.rbac.authorization.k8s.io", "v1.rbac.authorization.k8s.io")

	// A backend takes the place of a version of a definition.
	b := newBackend(t, w.servers, "crd.behind.example.com", "v1").start(t, true)
	// Without the label, neither aggregator takes it back.
	taken := strings.Replace(w.service(b, "v1", 1000, 10, ""), `"metadata":{`,
		`"metadata":{"labels":{"kube-aggregator.kubernetes.io/automanaged":null},`, 1)
	if code, body := w.patch(t, custom, taken); code != 200 {
		t.Fatalf("%d %s", code, body)
	}
	w.untilCondition(t, custom, "True")
	w.until(t, adminToken, "GET", "/apis/crd.behind.example.com/v1", "", 200, `"things"`)
	code, body := w.get(t, "/apis/crd.behind.example.com/v1/odds")
	w.add("locals: a backend in the place of a definition", fmt.Sprint(code), body)
	code, body = w.get(t, "/apis/crd.behind.example.com/v2beta1/odds")
	w.add("locals: the other version of the definition", fmt.Sprint(code), statusLines(body)[0])

	_, _ = w.cluster.ask(t, adminToken, "DELETE",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/odds.crd.behind.example.com", "")
	w.until(t, adminToken, "GET", apiservices+"/v2beta1.crd.behind.example.com", "", 404, "")
	code, _ = w.get(t, apiservices+"/"+custom)
	w.add("locals: a backend, after the definition", fmt.Sprint(code))
}

// describeLocals records local APIServices, and the order of their versions.
func (w *world) describeLocals(t *testing.T) {
	t.Helper()
	_, body := w.get(t, apiservices)
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		var s localService
		if err := json.Unmarshal(item, &s); err != nil {
			t.Fatal(err)
		}
		group := s.Spec.Group
		if s.Spec.Service != nil ||
			strings.HasSuffix(group, "behind.example.com") && group != "crd.behind.example.com" {
			continue
		}
		_, condition := conditionOf(string(item))
		w.add("local "+s.Metadata.Name, fmt.Sprintf("labels %v, group priority %d", s.Metadata.Labels,
			s.Spec.GroupPriorityMinimum), condition)
	}
	for _, group := range []string{"crd.behind.example.com", "admissionregistration.k8s.io"} {
		_, body := w.get(t, "/apis/"+group)
		w.add("local group "+group, body)
	}
}

func (w *world) local(t *testing.T, name string) (s localService) {
	t.Helper()
	_, body := w.get(t, apiservices+"/"+name)
	_ = json.Unmarshal([]byte(body), &s) // a Status has no fields of it
	return s
}

// patience is how long an aggregator has time to undo a change. kube-apiserver was recorded on an idle machine.
func (w *world) patience() time.Duration {
	if w.cluster.noServices {
		return 8 * time.Second
	}
	return 4 * time.Second
}

// editLocal changes a local APIService, and records whether the aggregator undoes that.
func (w *world) editLocal(t *testing.T, what, name, patch string) {
	t.Helper()
	before := w.local(t, name)
	code, _ := w.patch(t, name, patch)
	edited := w.local(t, name)
	undone := w.becomes(t, name, func(s localService) bool {
		return compact(s.Spec) == compact(before.Spec) && compact(s.Metadata.Labels) == compact(before.Metadata.Labels)
	})
	same := compact(before) == compact(edited)
	w.add("locals: edit of "+what, fmt.Sprintf("%d, undone %v", code, undone || same))
}

// deleteLocal deletes a local APIService, and records whether it comes back.
func (w *world) deleteLocal(t *testing.T, what, name string) {
	t.Helper()
	before := w.local(t, name)
	code, _ := w.cluster.ask(t, adminToken, "DELETE", apiservices+"/"+name, "")
	back := w.becomes(t, name, func(s localService) bool {
		return s.Metadata.UID != "" && s.Metadata.UID != before.Metadata.UID
	})
	lines := []string{fmt.Sprintf("%d, comes back %v", code, back)}
	if back {
		lines = append(lines, fmt.Sprint(w.local(t, name).Metadata.Labels), w.untilCondition(t, name, "True"))
	} else {
		path := "/apis/" + before.Spec.Group
		code, _ := w.get(t, path)
		_, apis := w.get(t, "/apis")
		versionCode, _ := w.get(t, path+"/"+before.Spec.Version)
		lines = append(lines, fmt.Sprintf("the group %d, the version %d, listed %v", code, versionCode,
			pick(apis, "groups", before.Spec.Group)))
	}
	w.add("locals: deletion of "+what, lines...)
}

// becomes reports whether an APIService fulfils a condition soon.
func (w *world) becomes(t *testing.T, name string, is func(localService) bool) bool {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(w.patience()); time.Now().Before(late); <-tick.C {
		if is(w.local(t, name)) {
			return true
		}
	}
	return false
}

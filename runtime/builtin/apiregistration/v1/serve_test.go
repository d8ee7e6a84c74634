package v1_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	apiregistrationv1 "apigen.dev/runtime/builtin/apiregistration/v1"
	"apigen.dev/runtime/builtin/apiregistration/wiring"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	collection = "/apis/apiregistration.k8s.io/v1/apiservices"
	shop       = collection + "/v1.shop.example.com"
)

// send sends an object, wants a code, and decodes the answer.
func send[T any](t *testing.T, s *apitest.Server, method, path string, body any, code int) (answer T) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if _, table := any(answer).(metav1.Table); table {
		request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	}
	response, err := s.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != code {
		t.Fatalf("%s %s: %s %s, want %d", method, path, response.Status, got, code)
	}
	if err := json.Unmarshal(got, &answer); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	return answer
}

// A server sets the default port, keeps status and the rest apart, and says of a local version that it is available.
func TestServe(t *testing.T) {
	type service = apiregistrationv1.APIService
	s := apitest.Start(t, wiring.Group())
	object := remote()
	object.Spec.Service.Port = nil
	object.Status.Conditions = []apiregistrationv1.APIServiceCondition{condition("True", "Claimed", 1)}
	got := send[service](t, s, http.MethodPost, collection, object, http.StatusCreated)
	if port := got.Spec.Service.Port; port == nil || *port != 443 || len(got.Status.Conditions) > 0 {
		t.Errorf("%+v", got)
	}
	if got.Generation != 0 {
		t.Errorf("generation %d", got.Generation)
	}

	got.Spec.VersionPriority = 20
	got.Status.Conditions = object.Status.Conditions
	unconditional := got
	unconditional.ResourceVersion = ""
	send[metav1.Status](t, s, http.MethodPut, shop, unconditional, http.StatusUnprocessableEntity)
	got = send[service](t, s, http.MethodPut, shop, got, http.StatusOK)
	if got.Spec.VersionPriority != 20 || len(got.Status.Conditions) > 0 {
		t.Errorf("%+v", got)
	}

	renamed := got
	renamed.Spec.Version = "v2"
	status := send[metav1.Status](t, s, http.MethodPut, shop, renamed, http.StatusUnprocessableEntity)
	if len(status.Details.Causes) != 1 || status.Details.Causes[0].Field != "metadata.name" {
		t.Errorf("%+v", status)
	}

	got.Labels, got.Spec.VersionPriority = map[string]string{"a": "b"}, 0
	apiregistrationv1.SetCondition(&got, condition("False", "MissingEndpoints", 1))
	got = send[service](t, s, http.MethodPut, shop+"/status", got, http.StatusOK)
	if got.Spec.VersionPriority != 20 || len(got.Labels) > 0 || len(got.Status.Conditions) != 1 {
		t.Errorf("%+v", got)
	}
	got.Status.Conditions[0].Status = "Maybe"
	send[metav1.Status](t, s, http.MethodPut, shop+"/status", got, http.StatusUnprocessableEntity)

	local := prioritized("v1.", 18000, 1)
	core := send[service](t, s, http.MethodPost, collection, local, http.StatusCreated)
	c := apiregistrationv1.ConditionOf(&core, apiregistrationv1.Available)
	if c == nil || !apiregistrationv1.IsAvailable(&core) || c.Reason != "Local" || c.LastTransitionTime.IsZero() {
		t.Errorf("%+v", core)
	}
	send[service](t, s, http.MethodGet, collection+"/v1.", nil, http.StatusOK)
	wantTable(t, send[metav1.Table](t, s, http.MethodGet, collection, nil, http.StatusOK))
}

func wantTable(t *testing.T, table metav1.Table) {
	t.Helper()
	var lines []string
	var names []string
	for _, column := range table.ColumnDefinitions {
		names = append(names, column.Name+" "+column.Type)
	}
	lines = append(lines, strings.Join(names, ", "))
	for _, row := range table.Rows {
		lines = append(lines, fmt.Sprint(row.Cells[:len(row.Cells)-1]...))
	}
	const want = `Name string, Service string, Available string, Age string
v1.LocalTrue
v1.shop.example.comshop/apiFalse (MissingEndpoints)`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The keys are kube-apiserver's, so that a server can be replaced in place.
func TestStorageKey(t *testing.T) {
	var backend storage.Backend
	s := apitest.StartWith(t, func(c *server.Config) { backend = c.Backend }, wiring.Group())
	send[apiregistrationv1.APIService](t, s, http.MethodPost, collection, remote(), http.StatusCreated)
	const key = "/registry/apiregistration.k8s.io/apiservices/v1.shop.example.com"
	if kv, _, err := backend.Get(t.Context(), key, storage.GetOptions{}); err != nil || kv == nil {
		t.Errorf("%s: %v, %v", key, kv, err)
	}
}

func TestDiscovery(t *testing.T) {
	s := apitest.Start(t, wiring.Group())
	list := send[metav1.APIResourceList](t, s, http.MethodGet, "/apis/apiregistration.k8s.io/v1", nil, http.StatusOK)
	if len(list.APIResources) != 2 {
		t.Fatalf("%+v", list)
	}
	services, status := list.APIResources[0], list.APIResources[1]
	if services.Name != "apiservices" || services.SingularName != "apiservice" || services.Namespaced ||
		len(services.ShortNames) > 0 || fmt.Sprint(services.Categories) != "[api-extensions]" {
		t.Errorf("%+v", services)
	}
	if status.Name != "apiservices/status" || fmt.Sprint(status.Verbs) != "[get patch update]" {
		t.Errorf("%+v", status)
	}
}

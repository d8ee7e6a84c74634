package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"

	"example.com/park/apis"
	parkv1 "example.com/park/apis/park/v1"
)

const (
	v1      = "/apis/park.example.com/v1/parks"
	v1beta1 = "/apis/park.example.com/v1beta1/parks"
)

type answer struct {
	code    int
	body    string
	warning []string
}

func send(t *testing.T, server *apitest.Server, method, path, contentType, body string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	response, err := server.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, string(content), response.Header.Values("Warning")}
}

func park(t *testing.T, a answer, code int) parkv1.Park {
	t.Helper()
	if a.code != code {
		t.Fatalf("%d, want %d: %s", a.code, code, a.body)
	}
	var p parkv1.Park
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// The server calls the hooks on every write, in every version.
func TestStrategy(t *testing.T) {
	server := apitest.Start(t, apis.Groups()...)
	const central = `{"apiVersion":"park.example.com/v1","kind":"Park","metadata":{"name":"central"},
		"spec":{"trees":340,"plantedBy":"me","paths":[{"name":"oak"},{"name":"lake","lit":false}]}}`

	created := park(t, send(t, server, "POST", v1, "application/json", central), http.StatusCreated)
	if created.Spec.PlantedBy != "the city" {
		t.Errorf("PrepareForCreate was not called: planted by %q", created.Spec.PlantedBy)
	}
	if paths := created.Spec.Paths; len(paths) != 2 || paths[0].Name != "lake" || *paths[0].Lit || !*paths[1].Lit {
		t.Errorf("Canonicalize or the defaults were not called: %+v", paths)
	}
	if a := send(t, server, "PATCH", v1+"/central", "application/merge-patch+json",
		`{"spec":{"trees":12}}`); a.code != 422 || !strings.Contains(a.body, "trees must not be cut") {
		t.Errorf("ValidateUpdate: %d %s", a.code, a.body)
	}
	for patch, want := range map[string]string{
		`{"spec":{"areaHectares":0.1}}`: "must leave room to walk",
		`{"spec":{"areaHectares":-1}}`: "spec.areaHectares in body " +
			"should be greater than or equal to 0",
		`{"spec":{"paths":[{"name":"oak"},{"name":"oak"}]}}`: "spec.paths[1]: Duplicate value",
	} {
		if a := send(t, server, "PATCH", v1beta1+"/central", "application/merge-patch+json", patch); a.code != 422 ||
			!strings.Contains(a.body, want) {
			t.Errorf("Validate of %s: %d %s", patch, a.code, a.body)
		}
	}
	if p := park(t, send(t, server, "PATCH", v1beta1+"/central", "application/merge-patch+json",
		`{"spec":{"trees":350,"plantedBy":"me"}}`), 200); p.Spec.Trees != 350 || p.Spec.PlantedBy != "the city" {
		t.Errorf("PrepareForUpdate: %+v", p.Spec)
	}
	a := send(t, server, "POST", v1, "application/json",
		`{"apiVersion":"park.example.com/v1","kind":"Park","metadata":{"name":"bare"}}`)
	if park(t, a, http.StatusCreated); len(a.warning) != 1 ||
		!strings.Contains(a.warning[0], "park bare has no trees") {
		t.Errorf("Warnings: %q", a.warning)
	}
	if a := send(t, server, "PUT", v1+"/new", "application/json",
		strings.Replace(central, "central", "new", 1)); a.code != http.StatusCreated {
		t.Errorf("a PUT that creates: %d %s", a.code, a.body)
	}
}

// Clients can read every object in every version; there are no namespaces.
func TestVersions(t *testing.T) {
	server := apitest.Start(t, apis.Groups()...)
	park(t, send(t, server, "POST", v1beta1, "application/json",
		`{"apiVersion":"park.example.com/v1beta1","kind":"Park","metadata":{"name":"a"},"spec":{"trees":7,`+
			`"district":"north"}}`), http.StatusCreated)
	for _, base := range []string{v1, v1beta1} {
		if p := park(t, send(t, server, "GET", base+"/a", "", ""), 200); p.Spec.Trees != 7 ||
			!strings.HasSuffix(p.APIVersion, strings.Split(base, "/")[3]) {
			t.Errorf("%s: %+v", base, p)
		}
	}
	if a := send(t, server, "GET", "/apis/park.example.com/v1/namespaces/default/parks/a", "", ""); a.code != 404 {
		t.Errorf("a park in a namespace: %d", a.code)
	}
	if a := send(t, server, "GET", v1beta1+"?fieldSelector=spec.district%3Dnorth", "", ""); a.code != 200 ||
		!strings.Contains(a.body, `"name":"a"`) {
		t.Errorf("a list by district: %d %s", a.code, a.body)
	}
}

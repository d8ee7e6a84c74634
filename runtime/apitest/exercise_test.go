package apitest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"apigen.dev/runtime/builtin/coordination/wiring"
	"apigen.dev/runtime/registry"
)

// recorder is a test whose failures are kept.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// tampered is a client of a server that changes what it answers.
type tampered struct {
	http.RoundTripper
	change func(r *http.Request, status int, body string) (int, string)
}

func (c tampered) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	var body []byte
	if r.URL.Query().Get("watch") == "true" { // which doesn't end
		body, err = bufio.NewReader(response.Body).ReadBytes('\n')
		err = errors.Join(err, response.Body.Close())
	} else {
		body, err = io.ReadAll(response.Body)
	}
	if err != nil {
		return nil, err
	}
	status, text := c.change(r, response.StatusCode, string(body))
	response.StatusCode, response.Body = status, io.NopCloser(strings.NewReader(text))
	return response, nil
}

// TestExerciseFindsFaults: the test fails where the server answers 5xx, refuses a request about an object that it
// accepted, or answers another object.
func TestExerciseFindsFaults(t *testing.T) {
	holder := regexp.MustCompile(`holderIdentity("?:) ?"?[a-z]+"?`)
	lose := func(text string) string { return holder.ReplaceAllString(text, `holderIdentity$1 "other"`) }
	for name, plant := range map[string]struct {
		change func(r *http.Request, status int, body string) (int, string)
		want   string
	}{
		"a second apply fails": {func(r *http.Request, status int, body string) (int, string) {
			if r.URL.RawQuery == "fieldManager=two" {
				return http.StatusInternalServerError, `{"message":"broken"}`
			}
			return status, body
		}, "fieldManager=two: 500"},
		"an update is refused": {func(r *http.Request, status int, body string) (int, string) {
			if r.Method == http.MethodPut {
				return http.StatusUnprocessableEntity, `{"message":"refused"}`
			}
			return status, body
		}, "PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/full as : 422"},
		"YAML says something else": {func(r *http.Request, status int, body string) (int, string) {
			if r.Header.Get("Accept") == "application/yaml" && !strings.HasSuffix(r.URL.Path, "leases") {
				body = lose(body)
			}
			return status, body
		}, "GET as application/yaml answers"},
		"a patch changes more": {func(r *http.Request, status int, body string) (int, string) {
			if strings.HasPrefix(r.Header.Get("Content-Type"), "application/strategic") {
				body = lose(body)
			}
			return status, body
		}, "a strategic-merge-patch answers"},
		"a watch says something else": {func(r *http.Request, status int, body string) (int, string) {
			if r.URL.Query().Has("watch") {
				body = lose(body)
			}
			return status, body
		}, "the first event of a watch answers"},
		"a watch begins with a deletion": {func(r *http.Request, status int, body string) (int, string) {
			if r.URL.Query().Has("watch") {
				body = strings.Replace(body, "ADDED", "DELETED", 1)
			}
			return status, body
		}, "the first event of a watch of /apis/coordination.k8s.io/v1/namespaces/default/leases/full is DELETED"},
		"a write in protobuf changes more": {func(r *http.Request, status int, body string) (int, string) {
			if r.Method == http.MethodPut && r.Header.Get("Content-Type") == protobuf {
				body = lose(body)
			}
			return status, body
		}, "PUT of what GET answered in protobuf answers"},
		"protobuf is JSON": {func(r *http.Request, status int, body string) (int, string) {
			if r.Header.Get("Accept") == protobuf {
				body = "{}"
			}
			return status, body
		}, "leases/full as application/vnd.kubernetes.protobuf: the answer doesn't begin as protobuf does: {}"},
		"nothing is wrong": {func(_ *http.Request, status int, body string) (int, string) { return status, body }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			groups := []registry.Group{wiring.Group()}
			server := Start(t, groups...)
			server.Client.Transport = tampered{server.Client.Transport, plant.change}
			r := &recorder{TB: t}
			for _, k := range kinds(t, server, groups) {
				k.run(r)
			}
			all := strings.Join(r.errors, "\n")
			if !strings.Contains(all, plant.want) || plant.want == "" && all != "" {
				t.Errorf("want %q, found: %s", plant.want, all)
			}
		})
	}
}

// TestTextTypes: a full object has the fields of types of Go that are text of some form, which their schemas don't
// tell, and so does a minimal one that must have them.
func TestTextTypes(t *testing.T) {
	type text struct {
		Address  netip.Addr                `json:"address"`
		Networks []netip.Prefix            `json:"networks"`
		Ports    map[string]netip.AddrPort `json:"ports"`
		Name     string                    `json:"name"`
	}
	accept := func(r *http.Request) (int, string) {
		var sent struct{ Spec text }
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			return http.StatusBadRequest, `{"message":"can't be decoded"}`
		}
		return http.StatusCreated, "{}"
	}
	schemas := &schemas{}
	const document = `{"v1.Lamp":{"type":"object","properties":{"spec":{"$ref":"#/v1.Spec"}},"required":["spec"],
		"x-kubernetes-group-version-kind":[{"group":"g","version":"v1","kind":"Lamp"}]},
		"v1.Spec":{"type":"object","required":["address"],"properties":{"address":{"type":"string"},
		"networks":{"type":"array","items":{"type":"string"}},"name":{"type":"string"},
		"ports":{"type":"object","additionalProperties":{"type":"string"}}}}}`
	if err := json.Unmarshal([]byte(document), &schemas.byName); err != nil {
		t.Fatal(err)
	}
	k := &exercised{TB: t, server: &Server{Client: &http.Client{Transport: answering(accept)}}, schemas: schemas,
		group: "g", version: "v1", kind: "Lamp", plural: "lamps"}
	minimal := k.minimal()
	if minimal == nil {
		t.Fatal("there is no minimal object")
	}
	spec := k.full(minimal)["spec"].(object)
	for _, name := range []string{"address", "networks", "ports", "name"} {
		if spec[name] == nil {
			t.Errorf("the full object has no %s: %v", name, spec)
		}
	}
	if minimal := minimal["spec"].(object); len(minimal) != 1 {
		t.Errorf("the minimal object has %v", minimal)
	}
}

// answering is a server that answers by a function.
type answering func(r *http.Request) (status int, body string)

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := a(r)
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// TestRefusedSample: a sample that the server refuses is an error that names it, and what is wrong.
func TestRefusedSample(t *testing.T) {
	groups := []registry.Group{wiring.Group()}
	server, r := Start(t, groups...), &recorder{TB: t}
	for _, k := range kinds(t, server, groups) {
		k.samples = []object{{"apiVersion": k.apiVersion(), "kind": k.kind,
			"metadata": object{"name": "sample", "namespace": "elsewhere"}, "spec": object{"leaseTransitions": -1}}}
		k.run(r)
	}
	all := strings.Join(r.errors, "\n")
	if !strings.HasPrefix(all, `the server refuses the Lease "sample" of config/samples`) ||
		!strings.Contains(all, "leaseTransitions") || strings.Count(all, "config/samples") != len(r.errors) {
		t.Errorf("found: %s", all)
	}
}

// TestMatching: a text is made of a pattern, as long as it has to be.
func TestMatching(t *testing.T) {
	for _, pattern := range []string{
		`^[a-z]+$`, `^([0-9]-?){9,12}[0-9X]$`, `^(red|blue)-\d{3}$`, `^v[1-9][0-9]*(alpha|beta)?$`, `.*`,
		`^[^a1A]$`, `x?`,
	} {
		for _, least := range []int{0, 1, 5} {
			text := matching(pattern, least)
			if !regexp.MustCompile(pattern).MatchString(text) {
				t.Errorf("%q doesn't match %s", text, pattern)
			}
			if long := strings.ContainsAny(pattern, "+*"); long && len(text) < least {
				t.Errorf("%q of %s is shorter than %d", text, pattern, least)
			}
		}
	}
}

package apiextensions_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// crate has no rules yet.
const crate = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crates.shop.example.com}
spec:
  group: shop.example.com
  names: {kind: Crate, plural: crates}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              weight: {type: integer}
              note: {type: string}
              fixed: {type: integer}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    size: {type: integer}
              limits: {type: object, additionalProperties: {type: integer}}
`

// TestRatchetedRules: an update may keep a value that breaks a rule, and says so in a warning, wherever the value is
// and whatever the write.
func TestRatchetedRules(t *testing.T) {
	c := start(t)
	c.establish(crate, "crates.shop.example.com")
	const crates = "/apis/shop.example.com/v1/namespaces/ns/crates"
	const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crates.shop.example.com"
	const object = `{"apiVersion":"shop.example.com/v1","kind":"Crate","metadata":{"name":"a"},"spec":{"weight":20,
"fixed":1,"parts":[{"name":"x","size":20},{"name":"y","size":1}],"limits":{"cpu":20,"memory":1}}}`
	c.want(http.StatusCreated, http.MethodPost, crates, object)
	rule := func(of string) string {
		return `"x-kubernetes-validations":[{"rule":"` + of + `","message":"too big"}]`
	}
	code, answer := c.send(http.MethodPatch, definition, "application/json-patch+json", `[{"op":"add","path":
"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties","value":{
"weight":{"type":"integer",`+rule("self < 10")+`},"note":{"type":"string"},
"fixed":{"type":"integer","x-kubernetes-validations":[{"rule":"self == oldSelf","message":"is fixed"}]},
"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{
"type":"object","required":["name"],
"properties":{"name":{"type":"string"},"size":{"type":"integer",`+rule("self < 10")+`}}}},
"limits":{"type":"object","additionalProperties":{"type":"integer",`+rule("self < 10")+`}}}}]`)
	if code != http.StatusOK {
		t.Fatal(answer)
	}
	kept := []string{
		`spec.limits[cpu]: Invalid value: 20: too big`, `spec.parts[0].size: Invalid value: 20: too big`,
		`spec.weight: Invalid value: 20: too big`,
	}
	// The new rules hold as soon as an object that breaks them is refused.
	for code != http.StatusUnprocessableEntity {
		other := strings.Replace(object, `"a"`, `"b"`, 1)
		code, _ = c.send(http.MethodPost, crates+"?dryRun=All", "application/json", other)
	}
	live := c.want(http.StatusOK, http.MethodGet, crates+"/a", "")
	version := live["metadata"].(map[string]any)["resourceVersion"].(string)
	const merge, apply = "application/merge-patch+json", "application/apply-patch+yaml"
	const applied = `{"apiVersion":"shop.example.com/v1","kind":"Crate","metadata":{"name":"a"},"spec":{"note":"d"}}`
	for _, r := range []struct {
		what, method, path, contentType, body string
		code                                  int
		warnings                              []string
	}{
		{"a patch elsewhere", "PATCH", "/a", merge, `{"spec":{"note":"b"}}`, 200, kept},
		{"a JSON patch", "PATCH", "/a", "application/json-patch+json",
			`[{"op":"add","path":"/spec/note","value":"c"}]`, 200, kept},
		{"an apply", "PATCH", "/a?fieldManager=m", apply, applied, 409, nil},
		{"a forced apply", "PATCH", "/a?fieldManager=m&force=true", apply, applied, 200, kept},
		{"a PUT of an old version", "PUT", "/a", "application/json",
			strings.Replace(object, `"a"`, `"a","resourceVersion":"`+version+`"`, 1), 409, nil},
		{"beside a refusal", "PATCH", "/a", merge, `{"spec":{"weight":30}}`, 422, kept[:2]},
		{"beside a change of what is fixed", "PATCH", "/a", merge, `{"spec":{"fixed":2}}`, 422, kept},
		{"a mended value", "PATCH", "/a", merge, `{"spec":{"weight":1}}`, 200, kept[:2]},
		{"a mended map", "PATCH", "/a", merge, `{"spec":{"limits":{"cpu":1}}}`, 200, kept[1:2]},
		{"nothing is left", "PATCH", "/a", merge, `{"spec":{"parts":[{"name":"x","size":2}]}}`, 200, nil},
	} {
		url := c.URL + crates + r.path
		request, err := http.NewRequestWithContext(t.Context(), r.method, url, strings.NewReader(r.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", r.contentType)
		response, err := c.Client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		var want []string
		for _, text := range r.warnings {
			want = append(want, `299 - "`+text+`"`)
		}
		got := response.Header.Values("Warning")
		slices.Sort(got)
		if response.StatusCode != r.code || !slices.Equal(got, want) {
			t.Errorf("%s: %s, warnings\n%q, want\n%q", r.what, response.Status, got, want)
		}
	}
}

// TestCostOfAllRules: a definition whose rules together cost too much names the dearest four and the schema, as
// kube-apiserver does, also where one of them costs too much by itself.
func TestCostOfAllRules(t *testing.T) {
	const contributes = "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire " +
		"OpenAPIv3 schema"
	const total = "Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds " +
		"budget by factor of "
	for name, c := range map[string]struct {
		lists, most int // of each list of texts, whose rule compares all pairs
		causes      int
	}{
		"cheap":               {3, 5, 0},
		"all together":        {20, 700, 5},
		"also one by itself":  {20, 3000, 20 + 5},
		"two of them by each": {2, 10_000, 2 + 3},
	} {
		var properties []string
		for i := range c.lists {
			properties = append(properties, fmt.Sprintf(`"l%02d":{"type":"array","maxItems":%d,"items":{"type":"string",
"maxLength":20},"x-kubernetes-validations":[{"rule":"self.all(a, self.all(b, a == b))"}]}`, i, c.most))
		}
		schema := `{"type":"object","properties":{"spec":{"type":"object","properties":{` +
			strings.Join(properties, ",") + `}}}}`
		_, answer := start(t).send(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
			"application/json", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"lists.shop.example.com"},"spec":{"group":"shop.example.com","scope":"Namespaced",
"names":{"kind":"Listed","plural":"lists"},"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":`+schema+`}}]}}`)
		causes, _ := at(answer, "details", "causes").([]any)
		contributors, totals := 0, 0
		for _, cause := range causes {
			message := fmt.Sprint(at(cause, "message"))
			if message == contributes {
				contributors++
			}
			if strings.HasPrefix(message, total) {
				totals++
			}
		}
		if len(causes) != c.causes || c.causes > 0 && (totals != 1 || contributors != min(4, c.lists)) {
			t.Errorf("%s: %d causes, %d contributors: %v", name, len(causes), contributors, answer)
		}
	}
}

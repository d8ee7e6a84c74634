package apiextensions_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

const gadgets = "/apis/shop.example.com/v1/namespaces/ns/gadgets"

// gadgetOf is a gadget, or an object of another kind, with more members of its metadata.
func gadgetOf(kind, metadata string) string {
	return "{apiVersion: shop.example.com/v1, kind: " + kind + ", metadata: {" + metadata + "}, spec: {size: 1}}"
}

// scaleOf is a scale of a name, with a number of replicas.
func scaleOf(name, replicas string) string {
	return "{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: " + name + "}, " +
		"spec: {replicas: " + replicas + "}}"
}

// TestAnswers: requests for custom resources are refused with the code, the details and the causes of kube-apiserver.
// What decides each there is a function of apiextensions-apiserver (0.37).
func TestAnswers(t *testing.T) {
	c := start(t)
	c.establish(gadget, "gadgets.shop.example.com")
	c.want(http.StatusCreated, http.MethodPost, gadgets, gadgetOf("Gadget", "name: a"))
	const missing = `404 gadgets x: gadgets.shop.example.com "x" not found`
	const negative = ": Invalid value: -1: should be a non-negative integer"
	const skipped = "<nil>: Invalid value: null: some validation rules were not checked because the object was " +
		"invalid; correct the existing errors to complete validation"
	for _, r := range []struct{ name, method, path, body, want string }{
		// The update handler decodes any kind; customResourceValidator.ValidateTypeMeta compares it with that of an
		// object that is there.
		{"PUT of a missing object, of another kind", "PUT", "/x", gadgetOf("Other", "name: x"), missing},
		{"PUT of another kind", "PUT", "/a", gadgetOf("Other", "name: a"),
			`422 Other a: kind: Invalid value: "Other": must be Gadget`},
		{"PUT of a missing status, of another kind", "PUT", "/x/status", gadgetOf("Other", "name: x"), missing},
		{"POST of another kind", "POST", "", gadgetOf("Other", "name: x"),
			`422 Other x: kind: Invalid value: "Other": must be Gadget`},
		// The update handler decodes a scale, and compares its name, before ScaleREST.Update reads the object.
		{"PUT of a missing scale, with a text", "PUT", "/x/scale", scaleOf("x", "three"),
			`400 : Scale in version "v1" cannot be handled as a Scale`},
		{"PUT of a missing scale, of another name", "PUT", "/x/scale", scaleOf("b", "3"),
			"400 : the name of the object"},
		{"PUT of a missing scale", "PUT", "/x/scale", scaleOf("x", "3"), missing},
		// crdHandler.ServeHTTP, serveStatus and serveScale.
		{"no such subresource", "GET", "/a/nothing", "", `404 gadgets a: gadgets.shop.example.com "a" not found`},
		{"PUT of no such subresource", "PUT", "/x/nothing", "{}", missing},
		{"DELETE of a status", "DELETE", "/a/status", "",
			`405 gadgets : delete is not supported on resources of kind "gadgets.shop.example.com"`},
		{"POST of a scale", "POST", "/a/scale", "{}",
			`405 gadgets : create is not supported on resources of kind "gadgets.shop.example.com"`},
		// The namer of the update and the patch handler, which the path of a collection reaches.
		{"PUT of a collection", "PUT", "", gadgetOf("Gadget", "name: a"), "400 : name must be provided"},
		{"PATCH of a collection", "PATCH", "", "{}", "400 : name must be provided"},
		// customResourceValidator.ValidateScaleSpec and ValidateScaleStatus.
		{"PUT of a negative scale", "PUT", "/a/scale", scaleOf("a", "-1"), "422 Gadget a: .spec.replicas" + negative},
		{"PATCH of a negative scale", "PATCH", "/a/scale", "{spec: {replicas: -1}}",
			"422 Gadget a: .spec.replicas" + negative},
		{"negative replicas", "PATCH", "/a", "{spec: {replicas: -1}}", "422 Gadget a: .spec.replicas" + negative},
		{"negative replicas of a status", "PATCH", "/a/status", "{status: {replicas: -1}}",
			"422 Gadget a: .status.replicas" + negative},
		{"too many replicas", "PATCH", "/a", "{spec: {replicas: 2147483648}}",
			"422 Gadget a: .spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647"},
		// hasBlockingErr, of the errors of customResourceStrategy.Validate, those of metadata among them.
		{"a rule beside replicas", "PATCH", "/a", "{spec: {replicas: -1, size: 20}}",
			"422 Gadget a: .spec.replicas" + negative + "; spec: Invalid value: too large"},
		{"a rule beside a text", "PATCH", "/a", "{spec: {replicas: x, size: 20}}", `422 Gadget a: spec.replicas: ` +
			`Invalid value: "string": spec.replicas in body must be of type integer: "string"; .spec.replicas: ` +
			`Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected int64; ` + skipped},
		{"a rule beside a label", "PATCH", "/a", `{metadata: {labels: {a: "b c"}}, spec: {size: 20}}`,
			"; spec: Invalid value: too large"},
		{"a rule beside an owner", "PATCH", "/a",
			"{metadata: {ownerReferences: [{apiVersion: v1, kind: A, name: x}]}, spec: {size: 20}}",
			"422 Gadget a: metadata.ownerReferences[0].uid: Required value: must not be empty; " + skipped},
	} {
		code, status := c.do(r.method, gadgets+r.path, r.body)
		if got := refusal(code, status); !strings.Contains(got, r.want) {
			t.Errorf("%s:\n%s, want\n%s", r.name, got, r.want)
		}
	}
	c.want(http.StatusNotFound, http.MethodGet, "/apis/shop.example.com/v1/gadgets/a/nothing", "")
}

// refusal is the code, the details and the causes of a Status, or its message if there is no cause.
func refusal(code int, status map[string]any) string {
	text := fmt.Sprint(status["message"])
	if causes, _ := at(status, "details", "causes").([]any); len(causes) > 0 {
		var all []string
		for _, c := range causes {
			all = append(all, fmt.Sprintf("%v: %v", at(c, "field"), at(c, "message")))
		}
		text = strings.Join(all, "; ")
	}
	of := ""
	if kind := at(status, "details", "kind"); kind != nil {
		if group := at(status, "details", "group"); group != "shop.example.com" {
			return fmt.Sprintf("%d, and the group is %v", code, group)
		}
		name := at(status, "details", "name")
		if name == nil {
			name = ""
		}
		of = fmt.Sprint(kind, " ", name)
	}
	return fmt.Sprintf("%d %s: %s", code, of, text)
}

// TestManagerOfAnotherVersion: a new object whose client sent a manager of a version that its kind doesn't have has no
// managers at all. In kube-apiserver crConverter.ConvertToVersion fails, and FieldManager.UpdateNoErrors stores none.
func TestManagerOfAnotherVersion(t *testing.T) {
	c := start(t)
	c.establish(gadget, "gadgets.shop.example.com")
	for version, want := range map[string]int{"v1": 1, "v9": 0} {
		entry := `{manager: x, operation: Update, apiVersion: shop.example.com/` + version + `,
time: "2020-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:size": {}}}}`
		made := c.want(http.StatusCreated, http.MethodPost, gadgets,
			gadgetOf("Gadget", "name: "+version+", managedFields: ["+entry+"]"))
		if fields, _ := at(made, "metadata", "managedFields").([]any); len(fields) != want {
			t.Errorf("with a manager of %s: %v", version, fields)
		}
		patched := c.want(http.StatusOK, http.MethodPatch, gadgets+"/"+version, "spec: {size: 2}")
		if fields, _ := at(patched, "metadata", "managedFields").([]any); (len(fields) > 0) != (want > 0) {
			t.Errorf("patched, with a manager of %s: %v", version, fields)
		}
	}
}

// TestContinueOfLists: a list of custom resources has an empty continue if nothing follows, in each form of whole
// objects. In kube-apiserver it is an UnstructuredList, whose SetContinue leaves none out.
func TestContinueOfLists(t *testing.T) {
	c := start(t)
	c.establish(gadget, "gadgets.shop.example.com")
	decode := map[string]func([]byte, any) error{
		"application/json": json.Unmarshal, "application/cbor": direct.Unmarshal,
	}
	for _, none := range []bool{true, false} {
		if !none {
			c.want(http.StatusCreated, http.MethodPost, gadgets, gadgetOf("Gadget", "name: a"))
		}
		for mediaType, decode := range decode {
			var list map[string]any
			if err := decode(c.text(t, gadgets, mediaType), &list); err != nil {
				t.Fatal(err)
			}
			if got := at(list, "metadata", "continue"); got != "" {
				t.Errorf("%s, without items: %t: %v", mediaType, none, list["metadata"])
			}
		}
		if text := string(c.text(t, gadgets, "application/yaml")); !strings.Contains(text, "\n  continue: \"\"\n") {
			t.Errorf("without items: %t:\n%s", none, text)
		}
		const partial = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
		if text := string(c.text(t, gadgets, partial)); strings.Contains(text, "continue") {
			t.Errorf("metadata, without items: %t: %s", none, text)
		}
	}
}

// text returns an answer in a media type.
func (c client) text(t *testing.T, path, mediaType string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", mediaType)
	response, err := c.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s as %s: %s, %v", path, mediaType, response.Status, err)
	}
	return all
}

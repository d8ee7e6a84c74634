package document

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// TestKubectlExplain shows the document to the real client, where the machine has one.
func TestKubectlExplain(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("this machine has no kubectl to explain with")
	}
	parts := sliceOf(&model.Type{Name: "Part", Package: sample().Packages[0], Form: model.Struct,
		Doc: "Part is a piece.", Fields: []*model.Field{
			field("size", named(schema.ResourcePath, "resource", "Quantity", model.Struct)),
		}})
	color := field("color", predeclared("string"))
	color.Doc = "Color is what it looks like."
	server := httptest.NewServer(discovery(documentOf(sample(color, field("parts", parts)))))
	defer server.Close()
	for _, test := range []struct {
		args string
		want []string
	}{
		{"widgets", []string{"GROUP:      shop.example.com", "KIND:       Widget", "Widget is a thing in a shop.",
			"spec\t<WidgetSpec> -required-", "metadata\t<ObjectMeta>"}},
		{"widgets.spec.color", []string{"FIELD: color <string>", "Color is what it looks like."}},
		{"widgets.spec.parts.size", []string{"FIELD: size <Quantity>"}},
		{"zones.metadata.ownerReferences --recursive",
			[]string{"FIELD: ownerReferences <[]OwnerReference>", "uid\t<string> -required-"}},
	} {
		args := append([]string{"--server", server.URL, "explain"}, strings.Fields(test.args)...)
		cmd := exec.Command(kubectl, args...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "KUBECONFIG=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl explain %s: %v\n%s", test.args, err, out)
		}
		for _, want := range test.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("kubectl explain %s lacks %q:\n%s", test.args, want, out)
			}
		}
	}
}

// discovery serves as much of an API server as kubectl explain asks for.
func discovery(document []byte) http.Handler {
	mux := http.NewServeMux()
	reply := func(path, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body))
		})
	}
	reply("/api", `{"kind":"APIVersions","versions":[]}`)
	reply("/apis", `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"shop.example.com",`+
		`"versions":[{"groupVersion":"shop.example.com/v1","version":"v1"}],`+
		`"preferredVersion":{"groupVersion":"shop.example.com/v1","version":"v1"}}]}`)
	reply("/apis/shop.example.com/v1", `{"kind":"APIResourceList","apiVersion":"v1",
		"groupVersion":"shop.example.com/v1","resources":[
		{"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","verbs":["get","list"]},
		{"name":"zones","singularName":"zone","namespaced":false,"kind":"Zone","verbs":["get","list"]}]}`)
	reply("/openapi/v3", `{"paths":{"apis/shop.example.com/v1":{`+
		`"serverRelativeURL":"/openapi/v3/apis/shop.example.com/v1"}}}`)
	reply("/openapi/v3/apis/shop.example.com/v1", string(document))
	return mux
}

package document

import (
	"encoding/json"
	"testing"

	"k8s.io/kube-openapi/pkg/spec3"

	"apigen.dev/generator/internal/model"
)

// TestDocumentsTellProtobuf: of the kind that brings it, and of no other.
func TestDocumentsTellProtobuf(t *testing.T) {
	program := sample()
	bytes := &model.Type{Form: model.Slice, Elem: predeclared("uint8")}
	failure := &model.Type{Form: model.Interface, Name: "error"}
	program.Groups[0].Resources[0].Versions[0].Type.Methods = map[string]*model.Func{
		"Size":      {Name: "Size", Results: []*model.Type{predeclared("int")}},
		"Marshal":   {Name: "Marshal", Results: []*model.Type{bytes, failure}},
		"Unmarshal": {Name: "Unmarshal", Params: []*model.Type{bytes}, Results: []*model.Type{failure}},
	}
	var doc spec3.OpenAPI
	if err := json.Unmarshal(documentOf(program), &doc); err != nil {
		t.Fatal(err)
	}
	const root = "/apis/shop.example.com/v1/"
	widgets, zones := doc.Paths.Paths[root+"namespaces/{namespace}/widgets"], doc.Paths.Paths[root+"zones"]
	list := widgets.Get.Responses.StatusCodeResponses[200].Content
	if list[protobufType] == nil || list[protobufType+";stream=watch"] == nil ||
		widgets.Post.RequestBody.Content[protobufType] == nil {
		t.Errorf("widgets lack protobuf: %v", list)
	}
	if zones.Get.Responses.StatusCodeResponses[200].Content[protobufType] != nil ||
		zones.Post.RequestBody.Content[protobufType] != nil {
		t.Error("zones have protobuf")
	}
	patch := doc.Paths.Paths[root+"namespaces/{namespace}/widgets/{name}"].Patch
	if len(patch.RequestBody.Content) != 5 {
		t.Errorf("patches are %v", patch.RequestBody.Content)
	}
}

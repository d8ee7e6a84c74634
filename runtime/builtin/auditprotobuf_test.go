package builtin_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/subresource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// label is a kind that has protobuf, of what clients send to subresources and get from them.
type label = metav1.PartialObjectMetadata

// labelled is the widget with each kind of subresource whose answers are objects.
func labelled() registry.Group {
	empty := func() *label { return new(label) }
	kind := codec.Kind[*label]{Group: "label.example.com", Kind: "Label", New: empty, Versions: []codec.Version[*label]{
		codec.VersionOf(api.VersionInfo{Name: "v1"},
			codec.Conversion[*label, *label]{New: empty, Proto: codec.ProtoOf[*label]()}),
	}}
	definition := shop.Definition()
	definition.Extensions = []subresource.Extension[*shop.Widget]{
		subresource.ActionOf(subresource.Action[*shop.Widget, *label]{Name: "paint", Body: kind,
			Do: func(context.Context, *shop.Widget, *label) error { return nil }}),
		subresource.RemovalOf(subresource.Removal[*shop.Widget, *label]{Name: "discard", Body: kind,
			Do: func(context.Context, *shop.Widget, *label) (*metav1.DeleteOptions, error) { return nil, nil }}),
		subresource.RequestOf(subresource.Request[*shop.Widget, *label, *label]{Name: "label", Body: kind, Answer: kind,
			Do: func(_ context.Context, w *shop.Widget, in *label) (*label, error) {
				in.Annotations = map[string]string{"color": w.Color}
				return in, nil
			}}),
		subresource.ProjectionOf(subresource.Projection[*shop.Widget, *string, *label]{Name: "shade", Answer: kind,
			Options: subresource.Options[*string]{New: func() *string { return new(string) }},
			Show: func(_ context.Context, w *shop.Widget, _ *string) (*label, error) {
				return &label{ObjectMeta: metav1.ObjectMeta{Name: w.Name, Labels: map[string]string{"a": "b"}}}, nil
			}}),
	}
	return registry.Group{
		Name: definition.Group, Versions: []string{"v1", "v1beta1"},
		Resources: []registry.Resource{registry.New(definition)},
	}
}

const elevators = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"lifts.lift.example.com"},"spec":{"group":"lift.example.com",
"names":{"kind":"Lift","plural":"lifts"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,
"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// answered is the object of an answer in the audit, for a client that accepts a media type.
func (j *journal) answered(t *testing.T, s *apitest.Server, method, path, body, accept string) (object map[string]any) {
	t.Helper()
	j.take()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	r.Header.Set("Accept", accept)
	response, err := s.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	media, _, _ := strings.Cut(accept, ";")
	if got := response.Header.Get("Content-Type"); err != nil || !strings.HasPrefix(got, media) {
		t.Fatalf("%s %s as %s: %s, %s, %v\n%s", method, path, accept, response.Status, got, err, text)
	}
	for line := range strings.Lines(j.text()) {
		var event trail.Event
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		if event.Stage == trail.ResponseComplete && event.RequestURI == path {
			if err := json.Unmarshal(event.ResponseObject, &object); err != nil {
				t.Fatalf("%s %s as %s: %s, %v", method, path, accept, event.ResponseObject, err)
			}
			hideCreation(t, object)
			return object
		}
	}
	t.Fatalf("%s %s isn't in the audit:\n%s", method, path, j.text())
	return nil
}

// hideCreation replaces the time at which the object was made, if it has one: a review has that of its answer, and two
// answers may be of different seconds.
func hideCreation(t *testing.T, object map[string]any) {
	t.Helper()
	metadata, _ := object["metadata"].(map[string]any)
	created, isText := metadata["creationTimestamp"].(string)
	if !isText {
		return
	}
	if _, err := time.Parse(time.RFC3339, created); err != nil {
		t.Error(err)
	}
	metadata["creationTimestamp"] = "a time"
}

// labels is a feature that serves labelled.
type labels struct{ server.Base }

func (labels) Groups() []registry.Group { return []registry.Group{labelled()} }

// TestProtobufInAudit: the audit has the answers of subresources and of kinds that aren't stored in JSON, the same for
// clients that accept protobuf and for those that accept JSON.
func TestProtobufInAudit(t *testing.T) {
	j := &journal{level: trail.RequestResponse}
	s := startFeatures(t, func(c *server.Config) { c.Auditor = &trail.Auditor{Policy: j, Sink: j} },
		labels{})
	const (
		definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		lifts       = "/apis/lift.example.com/v1/namespaces/default/lifts"
		widgets     = "/apis/shop.example.com/v1/namespaces/default/widgets"
		scale       = lifts + "/a/scale"
		scaled      = `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a"},"spec":{"replicas":3}}`
		labels      = `{"kind":"Label","apiVersion":"label.example.com/v1","metadata":{"labels":{"x":"y"}}}`
		users       = "/apis/authentication.k8s.io/v1/"
		rights      = "/apis/authorization.k8s.io/v1/"
		partial     = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	)
	until(t, s, http.MethodPost, definitions, elevators, http.StatusCreated)
	until(t, s, http.MethodPost, lifts, `{"apiVersion":"lift.example.com/v1","kind":"Lift","metadata":{"name":"a"},
"spec":{"replicas":2}}`, http.StatusCreated)
	until(t, s, http.MethodPost, widgets, `{"metadata":{"name":"a"},"spec":{"color":"red"}}`, http.StatusCreated)
	for _, test := range []struct{ method, path, body, as, kind string }{
		{http.MethodGet, scale, "", "", "Scale"},
		{http.MethodGet, scale, "", partial, "PartialObjectMetadata"},
		{http.MethodPut, scale + "?dryRun=All", scaled, "", "Scale"},
		{http.MethodPut, scale + "?dryRun=All", scaled, partial, "PartialObjectMetadata"},
		{http.MethodPatch, scale + "?dryRun=All", `{"spec":{"replicas":4}}`, "", "Scale"},
		{http.MethodGet, lifts + "/none/scale", "", "", "Status"},
		{http.MethodPost, widgets + "/a/paint", labels, "", "Status"},
		{http.MethodPost, widgets + "/a/discard", labels, "", "Status"},
		{http.MethodPost, widgets + "/none/discard", labels, "", "Status"},
		{http.MethodPost, widgets + "/a/label", labels, "", "Label"},
		{http.MethodGet, widgets + "/a/shade", "", "", "Label"},
		{http.MethodGet, widgets + "/a/shade", "", partial, "PartialObjectMetadata"},
		{http.MethodPost, users + "selfsubjectreviews", `{}`, "", "SelfSubjectReview"},
		{http.MethodPost, users + "tokenreviews", `{"spec":{"token":"x"}}`, "", "TokenReview"},
		{http.MethodPost, rights + "selfsubjectaccessreviews",
			`{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`, "", "SelfSubjectAccessReview"},
		{http.MethodPost, rights + "subjectaccessreviews",
			`{"spec":{"user":"u","nonResourceAttributes":{"verb":"get","path":"/"}}}`, "", "SubjectAccessReview"},
	} {
		want := j.answered(t, s, test.method, test.path, test.body, "application/json"+test.as)
		got := j.answered(t, s, test.method, test.path, test.body, "application/vnd.kubernetes.protobuf"+test.as)
		if !reflect.DeepEqual(got, want) || got["kind"] != test.kind {
			t.Errorf("%s %s%s: %v, want %s as in JSON:\n%v", test.method, test.path, test.as, got, test.kind, want)
		}
	}
}

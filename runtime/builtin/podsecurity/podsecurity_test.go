package podsecurity

import (
	"context"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/versioned"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/server"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// namespaces and pods are what the plug-in reaches.
type namespaces struct {
	reach.Objects[*core.Namespace]
	labels map[string]string
}

func (n namespaces) Get(context.Context, string, string) (*core.Namespace, error) {
	return &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: n.labels}}, nil
}

type pods struct {
	reach.Objects[*core.Pod]
	all []*core.Pod
}

func (p pods) List(context.Context, string, labels.Selector) ([]*core.Pod, error) { return p.all, nil }

func newFeature(t *testing.T, configuration string) admission.Plugin {
	t.Helper()
	f := new(Feature)
	var config server.Config
	if err := config.Use(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if configuration != "" {
		if err := f.configure([]byte(configuration), ""); err != nil {
			t.Fatal(err)
		}
	}
	return config.Admission[0]
}

// request returns the attributes of a creation, or of an update if there is an old object.
func request(resource, subresource string, obj, old any) *admission.Attributes {
	a := &admission.Attributes{
		Operation: admission.Create, Namespace: "ns", Name: "x", Subresource: subresource,
		Resource: schema.GroupVersionResource{Version: "v1", Resource: resource},
		Kind:     schema.GroupVersionKind{Version: "v1", Kind: "X"},
		User:     &auth.User{Name: "u"}, Object: versioned.Options{Of: obj},
	}
	if old != nil {
		a.Operation, a.Old = admission.Update, versioned.Options{Of: old}
	}
	return a
}

func privileged(name string) *core.Pod {
	return &core.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: core.PodSpec{Containers: []core.Container{{
		Name: "c", Image: "i", SecurityContext: &core.SecurityContext{Privileged: ptr.To(true)},
	}}}}
}

const detail = `privileged (container "c" must not set securityContext.privileged=true)`

func TestPods(t *testing.T) {
	updated := privileged("p")
	updated.Labels = map[string]string{"a": "b"}
	imaged := privileged("p")
	imaged.Spec.Containers[0].Image = "j"
	deployment := &apps.Deployment{}
	deployment.Spec.Template.Spec = privileged("").Spec
	baseline := map[string]string{"pod-security.kubernetes.io/enforce": "baseline"}
	cases := []struct {
		name, configuration string
		labels              map[string]string
		request             *admission.Attributes
		refusal             string
		warnings            []string
	}{
		{"no labels", "", nil, request("pods", "", privileged("p"), nil), "", nil},
		{"enforced", "", baseline, request("pods", "", privileged("p"), nil),
			`violates PodSecurity "baseline:latest": ` + detail, nil},
		{"warned", "", map[string]string{"pod-security.kubernetes.io/warn": "baseline"},
			request("pods", "", privileged("p"), nil), "",
			[]string{`would violate PodSecurity "baseline:latest": ` + detail}},
		{"a controller is warned", "", map[string]string{"pod-security.kubernetes.io/warn": "baseline",
			"pod-security.kubernetes.io/enforce": "baseline"}, request("deployments", "", deployment, nil), "",
			[]string{`would violate PodSecurity "baseline:latest": ` + detail}},
		{"nothing that matters changed", "", baseline, request("pods", "", updated, privileged("p")), "", nil},
		{"the image changed", "", baseline, request("pods", "", imaged, privileged("p")),
			`violates PodSecurity "baseline:latest": ` + detail, nil},
		{"defaults", `{"kind":"PodSecurityConfiguration","defaults":{"enforce":"baseline"}}`, nil,
			request("pods", "", privileged("p"), nil), `violates PodSecurity "baseline:latest": ` + detail, nil},
		{"exempt user", `{"kind":"PodSecurityConfiguration","exemptions":{"usernames":["u"]}}`, baseline,
			request("pods", "", privileged("p"), nil), "", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			plugin := newFeature(t, c.configuration)
			ctx := reach.WithObjects(t.Context(), namespaces{labels: c.labels})
			if !plugin.Handles(c.request) {
				t.Fatal("not handled")
			}
			err := plugin.Validate(ctx, c.request)
			if (err == nil) != (c.refusal == "") || err != nil && err.Error() != c.refusal {
				t.Error(err)
			}
			if !slices.Equal(c.request.Warnings(), c.warnings) {
				t.Error(c.request.Warnings())
			}
		})
	}
	if newFeature(t, "").Handles(request("pods", "status", privileged("p"), privileged("p"))) {
		t.Error("the status of pods is checked")
	}
}

func TestNamespaces(t *testing.T) {
	plugin := newFeature(t, "")
	labeled := func(level string) *core.Namespace {
		return &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{
			"pod-security.kubernetes.io/enforce": level,
		}}}
	}
	err := plugin.Validate(t.Context(), request("namespaces", "", labeled("high"), nil))
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "must be one of privileged, baseline, restricted") {
		t.Error(err)
	}
	ctx := reach.WithObjects(t.Context(), pods{all: []*core.Pod{privileged("b"), privileged("a"), {}}})
	a := request("namespaces", "", labeled("baseline"), labeled("privileged"))
	if err := plugin.Validate(ctx, a); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"`,
		"a (and 1 other pod): privileged",
	}
	if !slices.Equal(a.Warnings(), want) {
		t.Errorf("%q", a.Warnings())
	}
}

func TestConfigurationIsStrict(t *testing.T) {
	for _, text := range []string{
		`{"kind":"Other"}`, `{"kind":"PodSecurityConfiguration","defaults":{"enforce":"high"}}`,
		`{"kind":"PodSecurityConfiguration","exemption":{}}`, `{`,
	} {
		if err := new(Feature).configure([]byte(text), ""); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

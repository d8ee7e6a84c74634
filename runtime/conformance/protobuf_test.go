package conformance

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// protobufOnly is a client whose every body must be protobuf, in both directions; but for patches, which are none.
func protobufOnly(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = protobufType, protobufType
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if sent := r.Header.Get("Content-Type"); r.ContentLength > 0 && sent != protobufType &&
				r.Method != http.MethodPatch {
				t.Errorf("%s %s was sent as %s", r.Method, r.URL.Path, sent)
			}
			response, err := inner.RoundTrip(r)
			if err == nil && response.Header.Get("Content-Type") != protobufType {
				t.Errorf("%s %s was answered %d, as %s", r.Method, r.URL.Path, response.StatusCode,
					response.Header.Get("Content-Type"))
			}
			return response, err
		})
	})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestSubresourcesInProtobuf: what client-go's typed clients send to subresources, and get,
// is protobuf where types have it.
func TestSubresourcesInProtobuf(t *testing.T) {
	ctx, client := t.Context(), protobufOnly(t, memoryCluster(t).config)
	deployments, pods := client.AppsV1().Deployments("default"), client.CoreV1().Pods("default")
	if _, err := deployments.Create(ctx, deployment("web"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	scale, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
	if err != nil || scale.Spec.Replicas != 3 || scale.Status.Selector != "app=web" || scale.UID == "" {
		t.Fatalf("%+v, %v", scale, err)
	}
	scale.Spec.Replicas = 5
	if scale, err = deployments.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{}); err != nil ||
		scale.Spec.Replicas != 5 {
		t.Fatalf("%+v, %v", scale, err)
	}
	scale.Spec.Replicas = -5
	if _, err = deployments.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("less than nothing: %v", err)
	}
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)),
			Selector: &metav1.LabelSelector{}},
	}
	if _, err := client.PolicyV1().PodDisruptionBudgets("default").
		Create(ctx, budget, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:1"}}}}
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Target: corev1.ObjectReference{Kind: "Node", Name: "n1"}}
	if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if pod, err = pods.Get(ctx, "one", metav1.GetOptions{}); err != nil || pod.Spec.NodeName != "n1" {
		t.Errorf("%+v, %v", pod.Spec, err)
	}
	if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("bound again: %v", err)
	}
	other := types.UID("other")
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: "one"},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}},
	}
	if err := pods.EvictV1(ctx, eviction); !apierrors.IsConflict(err) {
		t.Errorf("the eviction of another: %v", err)
	}
	eviction.DeleteOptions = nil
	if err := pods.EvictV1(ctx, eviction); err != nil {
		t.Error(err)
	}
	if _, err = pods.Get(ctx, "one", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("evicted: %v", err)
	}
}

// TestScaleIsKubernetes: a scale in protobuf is, byte by byte, what k8s.io/api writes of it.
func TestScaleIsKubernetes(t *testing.T) {
	server := memoryCluster(t)
	client := protobufOnly(t, server.config)
	if _, err := client.AppsV1().Deployments("default").Create(t.Context(), deployment("web"),
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	raw, err := client.AppsV1().RESTClient().Get().AbsPath("/apis/apps/v1/namespaces/default/deployments/web/scale").
		DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	serializer := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	object, _, err := serializer.Decode(raw, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	scale, ok := object.(*autoscalingv1.Scale)
	if !ok || scale.Spec.Replicas != 3 {
		t.Fatalf("%+v", object)
	}
	scale.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
	var again bytes.Buffer
	if err := serializer.Encode(scale, &again); err != nil || !bytes.Equal(raw, again.Bytes()) {
		t.Errorf("%v\n%q, and not\n%q", err, raw, &again)
	}
	for name, body := range map[string]string{
		"cut": string(raw[:len(raw)-9]), "foreign": "k8s\x00\n\x0b\n\x02v1\x12\x05Other\x12\x00", "none": "nothing",
	} {
		request := client.AppsV1().RESTClient().Put().AbsPath("/apis/apps/v1/namespaces/default/deployments/web/scale")
		err := request.Body(io.NopCloser(strings.NewReader(body))).SetHeader("Content-Type", protobufType).
			Do(t.Context()).Error()
		if !apierrors.IsBadRequest(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/internal/etcdtest"
	workloads "example.com/workloads/apis"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// clusterName is what serveVariable says for servers of kinds of Kubernetes itself: those of examples/workloads.
const clusterName = "workloads"

// onEachCluster runs a test on each sort of such a server.
func onEachCluster(t *testing.T, test func(t *testing.T, server *target)) {
	for name, start := range map[string]func(t *testing.T) *target{
		"memory":   memoryCluster,
		"embedded": embeddedCluster,
		"etcd":     etcdCluster,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

func memoryCluster(t *testing.T) *target {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, apitest.Start(t, workloads.Groups()...).Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return newTarget(t, path)
}

func embeddedCluster(t *testing.T) *target {
	t.Helper()
	p := startServing(t, clusterName)
	s := newTarget(t, p.kubeconfig())
	s.process = p
	return s
}

func etcdCluster(t *testing.T) *target {
	t.Helper()
	store := etcdtest.Start(t)
	p := startServing(t, clusterName, "--etcd-servers="+store.Endpoint())
	s := newTarget(t, p.kubeconfig())
	s.process, s.etcd = p, store
	return s
}

// clusterScheme holds the types of Kubernetes that examples/workloads serves.
func clusterScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, coordinationv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// clusterClient reads and writes them without a cache.
func clusterClient(t *testing.T, config *rest.Config) client.WithWatch {
	t.Helper()
	scheme, err := clusterScheme()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// deployment is what a user would write.
func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
			Labels: map[string]string{"app": name, "tier": "web"}},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:1"}}},
			},
		},
	}
}

// TestListsOfBuiltInKinds: what kube-apiserver takes of its own kinds is taken, though their lists are merged by keys:
// addresses of one type, and a variable that hides another. Who merges such lists is told of them.
func TestListsOfBuiltInKinds(t *testing.T) {
	c := clusterClient(t, memoryCluster(t).config)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "dual"}}
	if err := c.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"},
		{Type: corev1.NodeInternalIP, Address: "fd00::1"}}
	if err := c.Status().Update(t.Context(), node); err != nil {
		t.Errorf("two addresses of a node: %v", err)
	}
	d := deployment("hidden")
	d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}
	if err := c.Create(t.Context(), d); err != nil {
		t.Errorf("a variable that hides another: %v", err)
	}
	applied := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "hidden", "namespace": "default"},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "x", "env": []any{
			map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "A", "value": "2"},
		}}}},
	}}
	err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("tests"))
	if err == nil || !strings.Contains(err.Error(), "duplicate entries for key [name=\"A\"]") {
		t.Errorf("applied, it is %v", err)
	}
}

// TestBuiltInKindsKeepWhatProtobufKeeps tests that a null for bytes and an empty list come back from a write as from
// kube-apiserver, which stores both in protobuf, and that the same write again changes nothing.
func TestBuiltInKindsKeepWhatProtobufKeeps(t *testing.T) {
	c := clusterClient(t, memoryCluster(t).config)
	for name, test := range map[string]struct {
		sent map[string]any
		path []string
		want any
	}{
		"bytes in a map": {
			map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"a": nil}},
			[]string{"data", "a"}, "",
		},
		"a list": {
			map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{
				"affinity": map[string]any{"nodeAffinity": map[string]any{
					"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{"nodeSelectorTerms": []any{}},
				}},
				"containers": []any{map[string]any{"name": "a", "image": "x"}},
			}},
			[]string{"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
				"nodeSelectorTerms"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			sent := &unstructured.Unstructured{Object: test.sent}
			sent.SetNamespace("default")
			sent.SetName("a")
			check := func(what string, answer *unstructured.Unstructured, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				got, found, err := unstructured.NestedFieldNoCopy(answer.Object, test.path...)
				if err != nil || !found || got != test.want {
					t.Errorf("%s answers %#v, %v", what, got, err)
				}
			}
			dry := sent.DeepCopy()
			check("a dry run", dry, c.Create(t.Context(), dry, client.DryRunAll))
			created := sent.DeepCopy()
			check("a create", created, c.Create(t.Context(), created))
			updated := sent.DeepCopy()
			check("an update", updated, c.Update(t.Context(), updated))
			if updated.GetResourceVersion() != created.GetResourceVersion() {
				t.Errorf("an update with the same object changed it: %v\n%v", created, updated)
			}
			applied := sent.DeepCopy()
			check("an apply", applied, c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied),
				client.FieldOwner("tests"), client.ForceOwnership))
			read := sent.DeepCopy()
			check("a read", read, c.Get(t.Context(), client.ObjectKeyFromObject(sent), read))
		})
	}
}

package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	clientv3 "go.etcd.io/etcd/client/v3"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inherited are objects as a kube-apiserver leaves them, with all of their defaults, by their keys.
func inherited() map[string]client.Object {
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("uid-" + name), Generation: 3,
			Labels:            map[string]string{"app": name},
			CreationTimestamp: metav1.NewTime(time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC).Local()),
		}
	}
	web := deployment("web")
	web.ObjectMeta = meta("web")
	web.Spec.RevisionHistoryLimit, web.Spec.ProgressDeadlineSeconds = new(int32(10)), new(int32(600))
	web.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxUnavailable: new(intstr.FromString("25%")), MaxSurge: new(intstr.FromInt32(2)),
		}}
	complete := corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst,
		TerminationGracePeriodSeconds: new(int64(30)),
		SchedulerName:                 corev1.DefaultSchedulerName, SecurityContext: &corev1.PodSecurityContext{},
		Containers: []corev1.Container{{Name: "main", Image: "main:1", Resources: corev1.ResourceRequirements{
			Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi"),
				corev1.ResourceCPU: resource.MustParse("250m")},
		}}},
	}
	web.Spec.Template.Spec = complete
	return map[string]client.Object{
		"/registry/deployments/default/web": web,
		"/registry/pods/default/one": &corev1.Pod{ObjectMeta: meta("one"), Spec: complete,
			Status: corev1.PodStatus{Phase: corev1.PodRunning, HostIP: "10.0.0.1"}},
		"/registry/secrets/default/key": &corev1.Secret{ObjectMeta: meta("key"), Type: corev1.SecretTypeOpaque,
			Data: map[string][]byte{"k": {0, 1, 255}}},
		"/registry/configmaps/default/config": &corev1.ConfigMap{ObjectMeta: meta("config"),
			BinaryData: map[string][]byte{"b": []byte("\x00k8s")}},
		"/registry/leases/default/leader": &coordinationv1.Lease{ObjectMeta: meta("leader"),
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: new("me"),
				RenewTime:      new(metav1.NewMicroTime(time.Date(2026, 2, 3, 4, 5, 6, 789000, time.UTC).Local())),
			}},
	}
}

// asProtobuf is an object as kube-apiserver stores it.
func asProtobuf(t *testing.T, object client.Object) string {
	t.Helper()
	gvks, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		t.Fatal(err)
	}
	serializer := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	data, err := runtime.Encode(scheme.Codecs.EncoderForVersion(serializer, gvks[0].GroupVersion()), object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestTakeover: a server on the etcd of a kube-apiserver goes on with what is there, stored as protobuf under its keys.
func TestTakeover(t *testing.T) {
	store := etcdtest.Start(t)
	raw, err := clientv3.New(clientv3.Config{Endpoints: []string{store.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() }) // etcd is gone by then
	ctx, left := t.Context(), inherited()
	for key, object := range left {
		if _, err := raw.Put(ctx, key, asProtobuf(t, object)); err != nil {
			t.Fatal(err)
		}
	}
	broken := "/registry/secrets/default/broken"
	if _, err := raw.Put(ctx, broken, "k8s\x00\x0a\x0cthis is none"); err != nil {
		t.Fatal(err)
	}
	p := startServing(t, clusterName, "--etcd-servers="+store.Endpoint())
	c := clusterClient(t, newTarget(t, p.kubeconfig()).config)
	for key, want := range left {
		got := want.DeepCopyObject().(client.Object)
		if err := c.Get(ctx, client.ObjectKeyFromObject(want), got); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		if got.GetResourceVersion() == "" {
			t.Errorf("%s has no resourceVersion", key)
		}
		got.SetResourceVersion("")
		got.GetObjectKind().SetGroupVersionKind(want.GetObjectKind().GroupVersionKind())
		if !equality.Semantic.DeepEqual(got, want) {
			t.Errorf("%s is\n%+v, and was\n%+v", key, got, want)
		}
	}
	err = c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "broken"}, new(corev1.Secret))
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), broken) {
		t.Errorf("what can't be read: %v", err)
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.MatchingFields{"status.phase": "Running"}); err != nil || len(pods.Items) != 1 {
		t.Errorf("%d pods run, %v", len(pods.Items), err)
	}
	// A write makes JSON of it, in place; kube-apiserver writes protobuf meanwhile, and it is seen.
	var web appsv1.Deployment
	if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "web"}, &web); err != nil {
		t.Fatal(err)
	}
	web.Spec.Replicas = new(int32(7))
	if err := c.Update(ctx, &web); err != nil || web.Generation != 4 || web.UID != "uid-web" {
		t.Fatalf("%+v, %v", web.ObjectMeta, err)
	}
	late := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "late", UID: "uid-late"},
		Data: map[string]string{"a": "b"}}
	if _, err := raw.Put(ctx, "/registry/configmaps/default/late", asProtobuf(t, late)); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(late), late); err != nil || late.Data["a"] != "b" {
		t.Errorf("%+v, %v", late, err)
	}
	checkStored(t, raw, map[string]bool{"/registry/deployments/default/web": true})
	out := migrated(p, store.Endpoint())
	for _, want := range []string{
		"deployments.apps: 1 of 1 read, 0 stale", "configmaps: 2 of 2 read, 2 stale, 2 rewritten",
		"secrets: 2 of 2 read, 1 stale, 1 rewritten", broken,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("migrate doesn't say %q:\n%s", want, out)
		}
	}
	checkStored(t, raw, nil)
}

// migrated is what the command migrate says. It fails where something can't be read.
func migrated(p *process, endpoint string, flags ...string) string {
	command := exec.Command(p.binary, append([]string{"migrate", "--etcd-servers=" + endpoint}, flags...)...)
	command.Env = append(os.Environ(), serveVariable+"="+clusterName)
	out, err := command.CombinedOutput()
	return fmt.Sprintf("%s(%v)", out, err)
}

// checkStored tells the keys whose values are JSON from the others; nil stands for all that can be read.
func checkStored(t *testing.T, raw *clientv3.Client, want map[string]bool) {
	t.Helper()
	all, err := raw.Get(t.Context(), "/registry/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range all.Kvs {
		key := string(kv.Key)
		if strings.Contains(key, "/_apigen/") || strings.HasSuffix(key, "/broken") {
			continue
		}
		if is := strings.HasPrefix(string(kv.Value), "{"); is != (want == nil || want[key]) {
			t.Errorf("%s is JSON is %t: %.60q", key, is, kv.Value)
		}
	}
}

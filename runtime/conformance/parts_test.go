package conformance

import (
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	workloads "example.com/workloads/apis"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const plainPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"l":"1"}},"spec":{"containers":[` +
	`{"name":"main","image":"main:1","resources":{"limits":{"cpu":"1"}}}]}}`

// TestKubectlOnPartsOfPods: kubectl debug and kubectl patch --subresource=resize write parts of a pod, which other
// writes don't change.
func TestKubectlOnPartsOfPods(t *testing.T) {
	t.Parallel()
	k := newKubectlFor(t, apitest.Start(t, workloads.Groups()...).Kubeconfig)
	k.with(plainPod).says("pod/a created", "apply -f -")
	k.ok("debug a --image=busybox --container=dbg")
	k.is("busybox", "get pod a -o jsonpath={.spec.ephemeralContainers[?(@.name=='dbg')].image}")
	k.ok("debug a --image=busybox --container=more --target=main")
	k.is("dbg more", "get pod a -o jsonpath={.spec.ephemeralContainers[*].name}")
	k.with(plainPod).fails("existing ephemeral containers may not be changed or removed",
		"replace --raw /api/v1/namespaces/default/pods/a/ephemeralcontainers -f -")
	k.fails("write them by pods/ephemeralcontainers",
		`patch pod a --type=merge -p {"spec":{"ephemeralContainers":null}}`)

	k.ok(`patch pod a --subresource=resize -p {"metadata":{"labels":{"l":"2"}},"spec":{"containers":[` +
		`{"name":"main","image":"main:2","resources":{"limits":{"cpu":"2"}}}]},"status":{"phase":"Failed"}}`)
	k.is("2 main:1 1 Pending dbg more", "get pod a -o",
		"jsonpath={.spec.containers[0].resources.limits.cpu} {.spec.containers[0].image} {.metadata.labels.l} "+
			"{.status.phase} {.spec.ephemeralContainers[*].name}")
	k.with(strings.Replace(plainPod, "main\"", "other\"", 1)).fails(
		"spec.containers[0].name: Forbidden: items may not be renamed or reordered through this subresource",
		"replace --raw /api/v1/namespaces/default/pods/a/resize -f -")
	k.fails("write their resources by pods/resize",
		`patch pod a -p {"spec":{"containers":[{"name":"main","resources":{"limits":{"cpu":"3"}}}]}}`)
	k.says("f:cpu", "get pod a --show-managed-fields -o",
		"jsonpath={.metadata.managedFields[?(@.subresource=='resize')].fieldsV1}")
	k.says(`"name":"pods/resize"`, "get --raw /api/v1")
	k.says(`"verbs":["get","patch","update"]`, "get --raw /api/v1")
}

// TestRevisionOfDeployments: kube-controller-manager writes a deployment's revision with its status, and a status write
// changes no label.
func TestRevisionOfDeployments(t *testing.T) {
	t.Parallel()
	s := memoryCluster(t)
	client, err := kubernetes.NewForConfig(s.config)
	if err != nil {
		t.Fatal(err)
	}
	deployments := client.AppsV1().Deployments("default")
	d, err := deployments.Create(t.Context(), deployment("a"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, "deployment.kubernetes.io/revision", "1")
	d.Labels["tier"], d.Spec.Paused, d.Status = "db", true, appsv1.DeploymentStatus{ObservedGeneration: 1}
	if d, err = deployments.UpdateStatus(t.Context(), d, metav1.UpdateOptions{FieldManager: "manager"}); err != nil {
		t.Fatal(err)
	}
	if d.Annotations["deployment.kubernetes.io/revision"] != "1" || d.Labels["tier"] != "web" || d.Spec.Paused ||
		d.Status.ObservedGeneration != 1 || d.Generation != 1 {
		t.Errorf("%+v", d)
	}
	for _, entry := range d.ManagedFields {
		if fields := entry.FieldsV1.GetRawString(); entry.Manager == "manager" && (entry.Subresource != "status" ||
			!strings.Contains(fields, `"f:deployment.kubernetes.io/revision"`) || strings.Contains(fields, "labels")) {
			t.Errorf("%+v", entry)
		}
	}
}

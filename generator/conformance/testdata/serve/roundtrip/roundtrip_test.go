// Package roundtrip holds what was generated for the types of k8s.io/api against them.
package roundtrip

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	"k8s.io/api/apps/v1beta2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"example.com/conformance/apis"
	homes "example.com/conformance/apis/apps/v1"
	"example.com/conformance/apis/apps/v1beta1"
	ours "example.com/conformance/apis/apps/v1beta2"
	"example.com/conformance/apis/apps/wiring"
	core "example.com/conformance/apis/core/v1"
)

func filler() *randfill.Filler {
	return randfill.New().NilChance(.5).NumElements(1, 2).MaxDepth(8).Funcs(func(*runtime.RawExtension, randfill.Continue) {})
}

// What is converted to the hub and back is what it was.
func TestConversions(t *testing.T) {
	for range 200 {
		in, there, back := &v1beta2.Deployment{}, &appsv1.Deployment{}, &v1beta2.Deployment{}
		filler().Fill(in)
		in.TypeMeta.Kind, in.TypeMeta.APIVersion = "", ""
		if err := ours.Convert_v1beta2_Deployment_To_v1_Deployment(in.DeepCopy(), there, nil); err != nil {
			t.Fatal(err)
		}
		if err := ours.Convert_v1_Deployment_To_v1beta2_Deployment(there, back, nil); err != nil {
			t.Fatal(err)
		}
		if !equality.Semantic.DeepEqual(in, back) {
			t.Fatalf("%+v\nbecame\n%+v", in, back)
		}
		old, hub := &appsv1beta1.StatefulSet{}, &appsv1.StatefulSet{}
		filler().Fill(old)
		if err := v1beta1.Convert_v1beta1_StatefulSet_To_v1_StatefulSet(old, hub, nil); err != nil || hub.Spec.ServiceName != old.Spec.ServiceName {
			t.Fatal(err, hub)
		}
	}
}

// Defaults of markers, and functions of other packages, set values at any depth.
func TestDefaults(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 1}}}}}}
	core.SetObjectDefaults_Pod(pod)
	if got := pod.Spec.Containers[0].Ports[0].Protocol; got != corev1.ProtocolTCP {
		t.Errorf("the protocol is %q", got)
	}
	deployment, old := &appsv1.Deployment{}, &v1beta2.Deployment{}
	homes.SetObjectDefaults_Deployment(deployment)
	ours.SetObjectDefaults_Deployment(old)
	for _, spec := range []corev1.PodSpec{pod.Spec, deployment.Spec.Template.Spec, old.Spec.Template.Spec} {
		if got := spec.RestartPolicy; got != corev1.RestartPolicyAlways {
			t.Errorf("the function of the pods' package is not called: the restart policy is %q", got)
		}
	}
}

// The scheme knows all versions, their conversions and their defaults.
func TestScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := wiring.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	hub := &appsv1.ReplicaSet{}
	if err := scheme.Convert(&v1beta2.ReplicaSet{Spec: v1beta2.ReplicaSetSpec{MinReadySeconds: 7}}, hub, nil); err != nil || hub.Spec.MinReadySeconds != 7 {
		t.Errorf("%v, %+v", err, hub.Spec)
	}
	if got := scheme.PrioritizedVersionsForGroup("apps"); len(got) != 3 || got[0].Version != "v1" || got[2].Version != "v1beta1" {
		t.Errorf("versions: %v", got)
	}
}

// Groups are those of the packages, with the kinds that are stored.
func TestGroups(t *testing.T) {
	names := map[string]int{}
	for _, g := range apis.Groups() {
		names[g.Name] = len(g.Resources)
	}
	if len(names) != 3 || names[""] < 15 || names["apps"] != 5 || names["coordination.k8s.io"] != 1 {
		t.Errorf("groups and how many resources they have: %v", names)
	}
}

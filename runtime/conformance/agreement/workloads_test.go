package agreement

import (
	"os"
	"path/filepath"
	"testing"

	apps "example.com/workloads/apis/apps/wiring"
	coordination "example.com/workloads/apis/coordination/wiring"
	core "example.com/workloads/apis/core/wiring"
	policy "example.com/workloads/apis/policy/wiring"
)

// coreGroup stands for the core group: that has no name, and a definition's group must have one.
const coreGroup = "core.example.com"

// coreTypes are types of the core group's kinds in a group with a name, which are made of the same structs. Markers say
// whether a kind has a status, which is a subresource of all kinds of Kubernetes that have one.
const coreTypes = `// +groupName=` + coreGroup + `
package v1

import corev1 "k8s.io/api/core/v1"

// +kubebuilder:object:root=true
type ConfigMap corev1.ConfigMap

// +kubebuilder:object:root=true
type Event corev1.Event

// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:subresource:status
type Node corev1.Node

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Pod corev1.Pod

// +kubebuilder:object:root=true
type Secret corev1.Secret

// +kubebuilder:object:root=true
type ServiceAccount corev1.ServiceAccount
`

// TestWorkloads: objects of kinds of Kubernetes agree with definitions, as TestExamples says. Their types are those of
// k8s.io/api, in Kubernetes' own style, and are stored in protobuf. An event of the group events.k8s.io is an object of
// the core group's Event: nothing is stored of it, and it has no definition.
func TestWorkloads(t *testing.T) {
	folder := definitions(t, "workloads", func(dir string) {
		apis := filepath.Join(dir, "apis")
		for _, group := range []string{"core", "events"} {
			if err := os.RemoveAll(filepath.Join(apis, group)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Join(apis, "core", "v1"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(apis, "core", "v1", "types.go"), []byte(coreTypes), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, group := range []string{"apps", "policy"} {
			edit(t, filepath.Join(apis, group, "v1", "doc.go"), "package v1\n",
				`// +apigen:kind("*")=+kubebuilder:subresource:status`+"\npackage v1\n")
		}
		const groups = "// +apigen:groups\n"
		edit(t, filepath.Join(apis, "apis.go"), groups, groups+"// +apigen:crds:embeddedMetadata\n")
	})
	t.Run("apps", func(t *testing.T) { compare(t, apps.Group(), folder, workloads) })
	t.Run("coordination", func(t *testing.T) { compare(t, coordination.Group(), folder, workloads) })
	t.Run("core", func(t *testing.T) { compare(t, core.Group(), folder, workloads) })
	t.Run("policy", func(t *testing.T) { compare(t, policy.Group(), folder, workloads) })
}

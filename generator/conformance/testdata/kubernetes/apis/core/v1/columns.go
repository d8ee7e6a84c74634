package v1

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// DataColumn_ConfigMap counts the entries of a config map.
func DataColumn_ConfigMap(in *corev1.ConfigMap) int { return len(in.Data) + len(in.BinaryData) }

// DataColumn_Secret counts the entries of a secret.
func DataColumn_Secret(in *corev1.Secret) int { return len(in.Data) }

// ObjectColumn_Event names the object that an event is about.
func ObjectColumn_Event(in *corev1.Event) string {
	return strings.ToLower(in.InvolvedObject.Kind) + "/" + in.InvolvedObject.Name
}

// SourceField_Event is the component that reports an event.
func SourceField_Event(in *corev1.Event) string {
	if in.Source.Component == "" {
		return in.ReportingController
	}
	return in.Source.Component
}

// StatusColumn_Node says whether a node is ready, and whether it takes new pods.
func StatusColumn_Node(in *corev1.Node) string {
	status := "Unknown"
	for _, c := range in.Status.Conditions {
		if c.Type == corev1.NodeReady {
			status = map[bool]string{true: "Ready", false: "NotReady"}[c.Status == corev1.ConditionTrue]
		}
	}
	if in.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

// RolesColumn_Node lists the roles that a node's labels name.
func RolesColumn_Node(in *corev1.Node) string {
	var roles []string
	for label := range in.Labels {
		if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return listed(roles, "<none>")
}

// ClaimColumn_PersistentVolume names the claim that a volume is bound to.
func ClaimColumn_PersistentVolume(in *corev1.PersistentVolume) string {
	if in.Spec.ClaimRef == nil {
		return ""
	}
	return in.Spec.ClaimRef.Namespace + "/" + in.Spec.ClaimRef.Name
}

// ReadyColumn_Pod counts the containers that are ready.
func ReadyColumn_Pod(in *corev1.Pod) string {
	ready := 0
	for _, c := range in.Status.ContainerStatuses {
		if c.Ready {
			ready++
		}
	}
	return fmt.Sprintf("%d/%d", ready, len(in.Spec.Containers))
}

// StatusColumn_Pod is the phase of a pod, or why it waits or ends.
func StatusColumn_Pod(in *corev1.Pod) string {
	if in.DeletionTimestamp != nil {
		return "Terminating"
	}
	if in.Status.Reason != "" {
		return in.Status.Reason
	}
	for _, c := range in.Status.ContainerStatuses {
		switch state := c.State; {
		case state.Waiting != nil && state.Waiting.Reason != "":
			return state.Waiting.Reason
		case state.Terminated != nil && state.Terminated.Reason != "":
			return state.Terminated.Reason
		}
	}
	return string(in.Status.Phase)
}

// RestartsColumn_Pod counts the restarts of the containers.
func RestartsColumn_Pod(in *corev1.Pod) int {
	restarts := 0
	for _, c := range in.Status.ContainerStatuses {
		restarts += int(c.RestartCount)
	}
	return restarts
}

// ExternalColumn_Service lists the addresses at which a service is reached from outside.
func ExternalColumn_Service(in *corev1.Service) string {
	out := slices.Clone(in.Spec.ExternalIPs)
	for _, ingress := range in.Status.LoadBalancer.Ingress {
		out = append(out, max(ingress.IP, ingress.Hostname))
	}
	return listed(out, map[bool]string{true: "<pending>", false: "<none>"}[in.Spec.Type == corev1.ServiceTypeLoadBalancer])
}

// PortsColumn_Service lists the ports of a service with those of the nodes.
func PortsColumn_Service(in *corev1.Service) string {
	var out []string
	for _, port := range in.Spec.Ports {
		text := fmt.Sprintf("%d/%s", port.Port, port.Protocol)
		if port.NodePort > 0 {
			text = fmt.Sprintf("%d:%d/%s", port.Port, port.NodePort, port.Protocol)
		}
		out = append(out, text)
	}
	return listed(out, "<none>")
}

func listed(texts []string, none string) string {
	if len(texts) == 0 {
		return none
	}
	return strings.Join(texts, ",")
}

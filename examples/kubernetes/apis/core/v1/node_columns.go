package v1

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// StatusColumn_Node returns whether a node is ready, and whether pods may be scheduled to it.
func StatusColumn_Node(node *corev1.Node) string {
	status := "Unknown"
	for _, c := range node.Status.Conditions {
		switch {
		case c.Type != corev1.NodeReady:
		case c.Status == corev1.ConditionTrue:
			status = "Ready"
		default:
			status = "NotReady"
		}
	}
	if node.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

// RolesColumn_Node returns the roles that the labels of a node name.
func RolesColumn_Node(node *corev1.Node) string {
	var roles []string
	for label, value := range node.Labels {
		if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok {
			roles = append(roles, role)
		} else if label == "kubernetes.io/role" {
			roles = append(roles, value)
		}
	}
	roles = slices.DeleteFunc(roles, func(role string) bool { return role == "" })
	slices.Sort(roles)
	return cmp.Or(strings.Join(slices.Compact(roles), ","), none)
}

// InternalIPColumn_Node returns the address of a node within the cluster.
func InternalIPColumn_Node(node *corev1.Node) string { return address(node, corev1.NodeInternalIP) }

// ExternalIPColumn_Node returns the address of a node for the world.
func ExternalIPColumn_Node(node *corev1.Node) string { return address(node, corev1.NodeExternalIP) }

func address(node *corev1.Node, of corev1.NodeAddressType) string {
	for _, a := range node.Status.Addresses {
		if a.Type == of {
			return a.Address
		}
	}
	return none
}

// unknown is shown where a node doesn't say what it runs.
const unknown = "<unknown>"

// OSImageColumn_Node returns the operating system of a node.
func OSImageColumn_Node(node *corev1.Node) string {
	return cmp.Or(node.Status.NodeInfo.OSImage, unknown)
}

// KernelVersionColumn_Node returns the kernel of a node, and its architecture.
func KernelVersionColumn_Node(node *corev1.Node) string {
	version := cmp.Or(node.Status.NodeInfo.KernelVersion, unknown)
	if architecture := node.Status.NodeInfo.Architecture; architecture != "" {
		version += " (" + architecture + ")"
	}
	return version
}

// ContainerRuntimeColumn_Node returns the container runtime of a node.
func ContainerRuntimeColumn_Node(node *corev1.Node) string {
	return cmp.Or(node.Status.NodeInfo.ContainerRuntimeVersion, unknown)
}

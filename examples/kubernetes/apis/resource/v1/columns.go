package v1

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// StateColumn_ResourceClaim tells what became of a claim.
func StateColumn_ResourceClaim(claim *resourcev1.ResourceClaim) string {
	var states []string
	deleted := claim.DeletionTimestamp != nil
	if deleted {
		states = append(states, "deleted")
	}
	switch {
	case claim.Status.Allocation == nil && !deleted:
		states = append(states, "pending")
	case claim.Status.Allocation != nil:
		states = append(states, "allocated")
		if len(claim.Status.ReservedFor) > 0 {
			states = append(states, "reserved")
		}
	}
	return strings.Join(states, ",")
}

// ValueColumn_DeviceTaintRule is the value of the taint, which may be empty.
func ValueColumn_DeviceTaintRule(rule *resourcev1.DeviceTaintRule) string {
	return rule.Spec.Taint.Value
}

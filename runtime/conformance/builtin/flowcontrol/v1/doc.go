// Package v1 serves kinds of the group flowcontrol that have a status.
//
// +apigen:serve=k8s.io/api/flowcontrol/v1
// +apigen:serve:kinds=FlowSchema;PriorityLevelConfiguration
// +apigen:roundtrip=false
package v1

// Package v1 holds the one kind of the core group that this server has: pods, as far as kubectl logs, exec, attach and
// port-forward need them.
//
// +groupName=
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
package v1

// Package v1 serves cluster roles, whose names are segments of paths.
//
// +apigen:serve=k8s.io/api/rbac/v1
// +apigen:serve:kinds=ClusterRole
//
// +apigen:kind(ClusterRole)=+apigen:name=k8s-path-segment-name
package v1

// Package v1 serves the group authentication.k8s.io.
//
// +apigen:serve=k8s.io/api/authentication/v1
// +apigen:serve:kinds=SelfSubjectReview;TokenReview
// +apigen:kind("*")=+apigen:storage=none
package v1

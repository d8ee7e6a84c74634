// Package v1 serves the group authorization.k8s.io.
//
// +apigen:serve=k8s.io/api/authorization/v1
// +apigen:serve:kinds=LocalSubjectAccessReview;SelfSubjectAccessReview;SelfSubjectRulesReview;SubjectAccessReview
// +apigen:kind("*")=+apigen:storage=none
package v1

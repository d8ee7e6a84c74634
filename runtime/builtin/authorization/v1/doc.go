// Package v1 names the reviews of permissions that the parent package answers.
//
// +apigen:serve=k8s.io/api/authorization/v1
// +apigen:serve:kinds=LocalSubjectAccessReview;SelfSubjectAccessReview;SelfSubjectRulesReview;SubjectAccessReview
// +apigen:kind("*")=+apigen:storage=none
package v1

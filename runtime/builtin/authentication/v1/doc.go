// Package v1 names the reviews of credentials that the parent package answers.
//
// +apigen:serve=k8s.io/api/authentication/v1
// +apigen:serve:kinds=SelfSubjectReview;TokenReview
// +apigen:kind("*")=+apigen:storage=none
package v1

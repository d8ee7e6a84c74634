package auth

import "slices"

// governing are the groups of Kubernetes by which a server governs itself: who may do what, what is served, and what
// writes pass.
var governing = []string{
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
	"authorization.k8s.io", "certificates.k8s.io", "flowcontrol.apiserver.k8s.io", "rbac.authorization.k8s.io",
}

// Governs reports whether a server governs itself by the kinds of a group. Such a group is in the roles admin, edit and
// view only as far as it is in kube-apiserver's, and no other server answers for it.
func Governs(group string) bool { return slices.Contains(governing, group) }

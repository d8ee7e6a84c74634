package auth

import "errors"

// ErrABAC is the error of a server that is told to use kube-apiserver's mode ABAC, which this one declines.
var ErrABAC = errors.New("this server has no mode ABAC: its policy file is read at the start alone, and says less " +
	"than RBAC. Write its lines as roles and bindings, and use RBAC")

// ModeABAC is the mode of ErrABAC.
const ModeABAC = "ABAC"

// Package v1 serves cert-manager's kinds of the group cert-manager.io.
//
// +apigen:serve=github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1
package v1

// Package v1 serves cert-manager's kinds of the group acme.cert-manager.io.
//
// +apigen:serve=github.com/cert-manager/cert-manager/pkg/apis/acme/v1
package v1

// +apigen:serve=k8s.io/api/core/v1
package v1

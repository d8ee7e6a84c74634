// +apigen:serve=k8s.io/api/coordination/v1
package v1

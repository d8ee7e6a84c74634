// +apigen:serve=k8s.io/api/apps/v1beta2
package v1beta2

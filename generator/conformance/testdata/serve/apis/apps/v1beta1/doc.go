// +apigen:serve=k8s.io/api/apps/v1beta1
package v1beta1

package v1beta1

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/api/apps/v1beta1"
	"k8s.io/apimachinery/pkg/conversion"
)

// Convert_v1beta1_DeploymentSpec_To_v1_DeploymentSpec drops the request to roll back, which later versions don't have.
func Convert_v1beta1_DeploymentSpec_To_v1_DeploymentSpec(in *v1beta1.DeploymentSpec, out *appsv1.DeploymentSpec, s conversion.Scope) error {
	return autoConvert_v1beta1_DeploymentSpec_To_v1_DeploymentSpec(in, out, s)
}

package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/conformance/apis/internal/defaults"
)

// SetDefaults_Deployment sets how a deployment is rolled out.
func SetDefaults_Deployment(in *appsv1.Deployment) {
	defaults.Pointer(&in.Spec.Replicas, 1)
	defaults.Pointer(&in.Spec.RevisionHistoryLimit, 10)
	defaults.Pointer(&in.Spec.ProgressDeadlineSeconds, 600)
	defaults.Value(&in.Spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if in.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		defaults.Pointer(&in.Spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		defaults.Pointer(&in.Spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		defaults.Pointer(&in.Spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
}

// SetDefaults_DaemonSet sets how a daemon set is rolled out.
func SetDefaults_DaemonSet(in *appsv1.DaemonSet) {
	defaults.Pointer(&in.Spec.RevisionHistoryLimit, 10)
	defaults.Value(&in.Spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if in.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		defaults.Pointer(&in.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		defaults.Pointer(&in.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		defaults.Pointer(&in.Spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
}

// SetDefaults_StatefulSet sets how a stateful set is rolled out, and what becomes of its claims.
func SetDefaults_StatefulSet(in *appsv1.StatefulSet) {
	defaults.Pointer(&in.Spec.Replicas, 1)
	defaults.Pointer(&in.Spec.RevisionHistoryLimit, 10)
	defaults.Value(&in.Spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	defaults.Value(&in.Spec.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType)
	if in.Spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		defaults.Pointer(&in.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
		defaults.Pointer(&in.Spec.UpdateStrategy.RollingUpdate.Partition, 0)
	}
	defaults.Pointer(&in.Spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	for _, policy := range []*appsv1.PersistentVolumeClaimRetentionPolicyType{
		&in.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted,
		&in.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled,
	} {
		if *policy == "" {
			*policy = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
		}
	}
}

// SetDefaults_ReplicaSet sets the number of replicas, and takes the labels from the template.
func SetDefaults_ReplicaSet(in *appsv1.ReplicaSet) {
	defaults.Pointer(&in.Spec.Replicas, 1)
	if len(in.Labels) == 0 {
		in.Labels = in.Spec.Template.DeepCopy().Labels
	}
}

package v1

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/claim"
	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_StatefulSet sets how many pods there are, how they are replaced, and what becomes of their claims.
func SetDefaults_StatefulSet(in *appsv1.StatefulSet) {
	defaults.Value(&in.Spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	strategy := &in.Spec.UpdateStrategy
	if strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		defaults.Pointer(&strategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if strategy.Type == appsv1.RollingUpdateStatefulSetStrategyType && strategy.RollingUpdate != nil {
		defaults.Pointer(&strategy.RollingUpdate.Partition, 0)
		defaults.Pointer(&strategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
	}
	defaults.Pointer(&in.Spec.PersistentVolumeClaimRetentionPolicy,
		appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	retain := appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	defaults.Value(&in.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, retain)
	defaults.Value(&in.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, retain)
	defaults.Pointer(&in.Spec.Replicas, 1)
	defaults.Pointer(&in.Spec.RevisionHistoryLimit, 10)
}

// PrepareForCreate_StatefulSet leaves the status to the controller.
func PrepareForCreate_StatefulSet(_ context.Context, in *appsv1.StatefulSet) {
	in.Status = appsv1.StatefulSetStatus{}
	dropDisabled(in)
}

// PrepareForUpdate_StatefulSet keeps the status.
func PrepareForUpdate_StatefulSet(_ context.Context, in, old *appsv1.StatefulSet) {
	in.Status = old.Status
	dropDisabled(in)
}

func dropDisabled(in *appsv1.StatefulSet) {
	pod.DropDisabled(&in.Spec.Template.Spec)
	for i := range in.Spec.VolumeClaimTemplates {
		in.Spec.VolumeClaimTemplates[i].TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
		in.Spec.VolumeClaimTemplates[i].Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	}
}

// ValidateName_StatefulSet wants a DNS label, because the names of the pods begin with it.
func ValidateName_StatefulSet(name string, generated bool) []string { return label(name, generated) }

// ValidateObject_StatefulSet returns the errors of a stateful set.
func ValidateObject_StatefulSet(_ context.Context, in *appsv1.StatefulSet) field.ErrorList {
	spec, path := &in.Spec, field.NewPath("spec")
	created := in.ResourceVersion == ""
	errs := rule.All(
		validatePodManagement(spec.PodManagementPolicy, path.Child("podManagementPolicy")),
		validateStatefulSetStrategy(&spec.UpdateStrategy, path.Child("updateStrategy")),
		validateRetention(spec.PersistentVolumeClaimRetentionPolicy,
			path.Child("persistentVolumeClaimRetentionPolicy")),
	)
	if created {
		errs = append(errs, rule.Each(spec.VolumeClaimTemplates, path.Child("volumeClaimTemplates"),
			func(template *corev1.PersistentVolumeClaim, path *field.Path) rule.Errors {
				return claim.ValidateSpec(&template.Spec, path.Child("spec"))
			})...)
	}
	errs = append(errs, rule.OptionalNotNegative(path.Child("replicas"), spec.Replicas)...)
	errs = append(errs, rule.NotNegative(path.Child("minReadySeconds"), spec.MinReadySeconds)...)
	if spec.Ordinals != nil {
		errs = append(errs, rule.NotNegative(path.Child("ordinals.start"), spec.Ordinals.Start)...)
	}
	if created && spec.ServiceName != "" {
		errs = append(errs, rule.Label(path.Child("serviceName"), spec.ServiceName)...)
	}
	template := path.Child("template")
	return rule.All(
		errs,
		validateSelector(spec.Selector, "statefulset", "", path.Child("selector"), func() rule.Errors {
			return append(validateMatch(spec.Selector, &spec.Template, template),
				pod.ValidateTemplate(withClaims(spec), template)...)
		}),
		pod.ValidateRunning(&spec.Template, "StatefulSet", template),
	)
}

// withClaims returns the template with the volumes of the claims, and without the names that the controller sets.
func withClaims(spec *appsv1.StatefulSetSpec) *corev1.PodTemplateSpec {
	template := spec.Template.DeepCopy()
	template.Spec.Hostname, template.Spec.Subdomain = "", ""
	var volumes []corev1.Volume
	for _, of := range spec.VolumeClaimTemplates {
		volumes = append(volumes, corev1.Volume{Name: of.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: of.Name}}})
	}
	for _, volume := range template.Spec.Volumes {
		if !slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.Name == volume.Name }) {
			volumes = append(volumes, volume)
		}
	}
	template.Spec.Volumes = volumes
	return template
}

func validatePodManagement(policy appsv1.PodManagementPolicyType, path *field.Path) rule.Errors {
	switch policy {
	case "":
		return rule.Errors{field.Required(path, "")}
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
		return nil
	}
	return rule.Errors{field.Invalid(path, policy, "must be 'OrderedReady' or 'Parallel'")}
}

func validateStatefulSetStrategy(strategy *appsv1.StatefulSetUpdateStrategy, path *field.Path) rule.Errors {
	rolling := strategy.RollingUpdate
	switch strategy.Type {
	case "":
		return rule.Errors{field.Required(path, "")}
	case appsv1.OnDeleteStatefulSetStrategyType:
		return rule.When(rolling != nil, field.Invalid(path.Child("rollingUpdate"), rolling,
			"only allowed for updateStrategy 'RollingUpdate'"))
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if rolling == nil {
			return nil
		}
		return validateRollingStatefulSet(rolling, path.Child("rollingUpdate"))
	}
	return rule.Errors{field.Invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")}
}

func validateRollingStatefulSet(rolling *appsv1.RollingUpdateStatefulSetStrategy, path *field.Path) rule.Errors {
	errs := rule.OptionalNotNegative(path.Child("partition"), rolling.Partition)
	if rolling.MaxUnavailable == nil {
		return errs
	}
	unavailable, at := *rolling.MaxUnavailable, path.Child("maxUnavailable")
	return rule.All(errs,
		rule.Share(at, unavailable),
		rule.When(rule.Amount(unavailable) == 0, field.Invalid(at, unavailable, "cannot be 0")),
		rule.AtMostAll(at, unavailable),
	)
}

func validateRetention(policy *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy, path *field.Path) rule.Errors {
	if policy == nil {
		return nil
	}
	retain := appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	remove := appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	return append(rule.OneOf(path.Child("whenDeleted"), policy.WhenDeleted, retain, remove),
		rule.OneOf(path.Child("whenScaled"), policy.WhenScaled, retain, remove)...)
}

// ValidateUpdate_StatefulSet holds what the pods that there are depend on.
func ValidateUpdate_StatefulSet(_ context.Context, in, old *appsv1.StatefulSet) field.ErrorList {
	is, was, path := &in.Spec, &old.Spec, field.NewPath("spec")
	return rule.All(
		rule.Immutable(path.Child("selector"), is.Selector, was.Selector),
		rule.Immutable(path.Child("volumeClaimTemplates"), is.VolumeClaimTemplates, was.VolumeClaimTemplates),
		rule.Immutable(path.Child("serviceName"), is.ServiceName, was.ServiceName),
		rule.Immutable(path.Child("podManagementPolicy"), is.PodManagementPolicy, was.PodManagementPolicy),
	)
}

// ValidateStatusUpdate_StatefulSet returns the errors of a status.
func ValidateStatusUpdate_StatefulSet(_ context.Context, in, old *appsv1.StatefulSet) field.ErrorList {
	status, path := &in.Status, field.NewPath("status")
	return rule.All(
		rule.NotNegative(path.Child("replicas"), status.Replicas),
		rule.NotNegative(path.Child("readyReplicas"), status.ReadyReplicas),
		rule.NotNegative(path.Child("currentReplicas"), status.CurrentReplicas),
		rule.NotNegative(path.Child("updatedReplicas"), status.UpdatedReplicas),
		rule.NotNegative(path.Child("availableReplicas"), status.AvailableReplicas),
		rule.NotNegative(path.Child("observedGeneration"), status.ObservedGeneration),
		rule.OptionalNotNegative(path.Child("collisionCount"), status.CollisionCount),
		rule.AtMost(path.Child("readyReplicas"), status.ReadyReplicas, status.Replicas, "status.replicas"),
		rule.AtMost(path.Child("currentReplicas"), status.CurrentReplicas, status.Replicas, "status.replicas"),
		rule.AtMost(path.Child("updatedReplicas"), status.UpdatedReplicas, status.Replicas, "status.replicas"),
		rule.AtMost(path.Child("availableReplicas"), status.AvailableReplicas, status.Replicas, "status.replicas"),
		rule.AtMost(path.Child("availableReplicas"), status.AvailableReplicas, status.ReadyReplicas,
			"status.readyReplicas"),
		notDecremented(path.Child("collisionCount"), status.CollisionCount, old.Status.CollisionCount),
	)
}

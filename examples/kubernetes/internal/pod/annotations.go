package pod

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// appArmorAnnotations is the prefix of the annotations by which containers once had their profile.
const appArmorAnnotations = corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix

// validateAnnotations validates annotations that mean something for pods.
func validateAnnotations(annotations map[string]string, in *corev1.PodSpec, path *field.Path) (errs rule.Errors) {
	if value, mirror := annotations[corev1.MirrorPodAnnotationKey]; mirror && in.NodeName == "" {
		errs = append(errs, field.Invalid(path.Key(corev1.MirrorPodAnnotationKey), value,
			"must set spec.nodeName if mirror pod annotation is set"))
	}
	if value, found := annotations[corev1.PodDeletionCost]; found {
		errs = append(errs, rule.When(!isCost(value), field.Invalid(path.Key(corev1.PodDeletionCost), value,
			"must be a 32bit integer"))...)
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		container, is := strings.CutPrefix(key, appArmorAnnotations)
		if !is {
			continue
		}
		names := slices.Concat(namesOf(in.InitContainers), namesOf(in.Containers))
		errs = append(errs, rule.When(!slices.Contains(names, container),
			field.Invalid(path.Key(key), container, "container not found"))...)
		profile := annotations[key]
		known := profile == "" || profile == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault ||
			profile == corev1.DeprecatedAppArmorBetaProfileNameUnconfined ||
			strings.HasPrefix(profile, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
		errs = append(errs, rule.When(!known, field.Invalid(path.Key(key), profile,
			"invalid AppArmor profile name: "+strconv.Quote(profile)))...)
	}
	return errs
}

// isCost reports whether a text is a cost of deletion: a number without a leading plus or zeros.
func isCost(value string) bool {
	if strings.HasPrefix(value, "+") || strings.HasPrefix(value, "0") && value != "0" {
		return false
	}
	_, err := strconv.ParseInt(value, 10, 32)
	return err == nil
}

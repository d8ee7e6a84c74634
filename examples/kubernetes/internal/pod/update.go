package pod

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// changeable are the fields of a specification that an update may change, as the error names them.
var changeable = strings.Join([]string{
	"`spec.containers[*].image`", "`spec.initContainers[*].image`", "`spec.activeDeadlineSeconds`",
	"`spec.tolerations` (only additions to existing tolerations)",
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
}, ",")

// ValidateUpdate validates a change of a pod. ValidateMetaAndSpec validates the result.
func ValidateUpdate(pod, old *corev1.Pod) (errs rule.Errors) {
	path := field.NewPath("spec")
	for _, list := range []struct {
		name    string
		is, was []corev1.Container
	}{
		{"containers", pod.Spec.Containers, old.Spec.Containers},
		{"initContainers", pod.Spec.InitContainers, old.Spec.InitContainers},
	} {
		if len(list.is) != len(list.was) {
			return append(errs, field.Forbidden(path.Child(list.name),
				"pod updates may not add or remove containers"))
		}
		errs = append(errs, rule.Each(list.is, path.Child(list.name),
			func(c *corev1.Container, path *field.Path) rule.Errors {
				return append(rule.Required(path.Child("image"), c.Image), trimmedImage(c, path)...)
			})...)
	}
	deadline, stop := validateDeadline(pod.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds,
		path.Child("activeDeadlineSeconds"))
	if errs = append(errs, deadline...); stop {
		return errs
	}
	errs = append(errs, validateAdded(pod.Spec.Tolerations, old.Spec.Tolerations, path.Child("tolerations"))...)
	errs = append(errs, validateRemoved(pod.Spec.SchedulingGates, old.Spec.SchedulingGates,
		path.Child("schedulingGates"))...)
	rest := pod.Spec.DeepCopy()
	if len(old.Spec.SchedulingGates) > 0 {
		errs = append(errs, validateGated(rest, &old.Spec, path)...)
	}
	restore(rest, &old.Spec)
	if !equality.Semantic.DeepEqual(rest, &old.Spec) {
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("pod updates may not change fields other than %s\n%v",
			changeable, diff.Diff(old.Spec, *rest))))
	}
	return errs
}

// restore undoes the changes of a specification that are allowed.
func restore(rest, was *corev1.PodSpec) {
	for i := range rest.Containers {
		rest.Containers[i].Image = was.Containers[i].Image
	}
	for i := range rest.InitContainers {
		rest.InitContainers[i].Image = was.InitContainers[i].Image
	}
	rest.ActiveDeadlineSeconds = was.ActiveDeadlineSeconds
	rest.SchedulingGates, rest.Tolerations = was.SchedulingGates, was.Tolerations
	is, grace := rest.TerminationGracePeriodSeconds, was.TerminationGracePeriodSeconds
	if grace != nil && *grace < 0 && is != nil && *is == 1 {
		rest.TerminationGracePeriodSeconds = grace
	}
}

func validateDeadline(is, was *int64, path *field.Path) (errs rule.Errors, stop bool) {
	switch {
	case is == nil && was == nil:
		return nil, false
	case is == nil:
		return rule.Errors{field.Invalid(path, is, "must not update from a positive integer to nil value")}, false
	case *is < 0 || *is > math.MaxInt32:
		return rule.Errors{field.Invalid(path, *is, validation.InclusiveRangeError(0, math.MaxInt32))}, true
	case was != nil && *was < *is:
		return rule.Errors{field.Invalid(path, *is, "must be less than or equal to previous value")}, true
	}
	return nil, false
}

// validateAdded wants the tolerations that there were to be there, though they may last longer or shorter.
func validateAdded(is, was []corev1.Toleration, path *field.Path) (errs rule.Errors) {
	for _, old := range was {
		kept := func(t corev1.Toleration) bool {
			t.TolerationSeconds = old.TolerationSeconds
			return equality.Semantic.DeepEqual(t, old)
		}
		errs = append(errs, rule.When(!slices.ContainsFunc(is, kept), field.Forbidden(path,
			"existing toleration can not be modified except its tolerationSeconds"))...)
	}
	return append(errs, ValidateTolerations(is, path)...)
}

func validateRemoved(is, was []corev1.PodSchedulingGate, path *field.Path) rule.Errors {
	return rule.Each(is, path, func(gate *corev1.PodSchedulingGate, path *field.Path) rule.Errors {
		return rule.When(!slices.Contains(was, *gate), field.Forbidden(path.Child("name"),
			fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", gate.Name)))
	})
}

// validateGated lets a pod that isn't scheduled yet get further conditions for its node, and restores what it checked.
func validateGated(rest, was *corev1.PodSpec, path *field.Path) (errs rule.Errors) {
	for key, value := range was.NodeSelector {
		if is, found := rest.NodeSelector[key]; !found || is != value {
			errs = append(errs, field.Invalid(path.Child("nodeSelector"), rest.NodeSelector,
				"only additions are allowed (no mutations or deletions)"))
			break
		}
	}
	rest.NodeSelector = was.NodeSelector
	return errs
}

// ValidateEphemeralUpdate lets ephemeral containers only become more.
func ValidateEphemeralUpdate(pod, old *corev1.Pod) (errs rule.Errors) {
	if _, mirror := old.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return rule.Errors{field.Forbidden(field.NewPath(""), "static pods do not support ephemeral containers")}
	}
	path := field.NewPath("spec", "ephemeralContainers")
	for _, was := range old.Spec.EphemeralContainers {
		at := slices.IndexFunc(pod.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool {
			return c.Name == was.Name
		})
		switch {
		case at < 0:
			errs = append(errs, field.Forbidden(path,
				fmt.Sprintf("existing ephemeral containers %q may not be removed\n", was.Name)))
		case !equality.Semantic.DeepEqual(pod.Spec.EphemeralContainers[at], was):
			errs = append(errs, field.Forbidden(path, fmt.Sprintf(
				"existing ephemeral containers %q may not be changed\n%v", was.Name,
				diff.Diff(was, pod.Spec.EphemeralContainers[at]))))
		}
	}
	return errs
}

// ValidateResize validates a change of the resources of a pod that may run.
func ValidateResize(pod, old *corev1.Pod) (errs rule.Errors) {
	path := field.NewPath("spec")
	if _, mirror := old.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return rule.Errors{field.Forbidden(field.NewPath(""), "static pods cannot be resized")}
	}
	if old.Spec.OS != nil && old.Spec.OS.Name == corev1.Windows {
		return rule.Errors{field.Forbidden(field.NewPath(""), "windows pods cannot be resized")}
	}
	was := old.Status.QOSClass
	if was == "" {
		was = QualityOf(old)
	}
	errs = rule.When(was != QualityOf(pod), field.Invalid(path, pod.Status.QOSClass,
		"Pod QOS Class may not change as a result of resizing"))
	if len(pod.Spec.Containers) != len(old.Spec.Containers) ||
		len(pod.Spec.InitContainers) != len(old.Spec.InitContainers) {
		return errs // the subresource refuses that
	}
	for i := range pod.Spec.InitContainers {
		errs = append(errs, validateResized(&pod.Spec.InitContainers[i], &old.Spec.InitContainers[i],
			path.Child("initContainers").Index(i), path)...)
	}
	for i := range pod.Spec.Containers {
		errs = append(errs, validateResized(&pod.Spec.Containers[i], &old.Spec.Containers[i],
			path.Child("containers").Index(i), path)...)
	}
	return errs
}

func validateResized(is, was *corev1.Container, path, spec *field.Path) (errs rule.Errors) {
	at := path.Child("resources")
	errs = rule.When(removed(is.Resources.Requests, was.Resources.Requests),
		field.Forbidden(at.Child("requests"), "resource requests cannot be removed"))
	errs = append(errs, rule.When(removed(is.Resources.Limits, was.Resources.Limits),
		field.Forbidden(at.Child("limits"), "resource limits cannot be removed"))...)
	rest := is.DeepCopy()
	rest.ResizePolicy = was.ResizePolicy
	keepResizable(&rest.Resources.Requests, was.Resources.Requests)
	keepResizable(&rest.Resources.Limits, was.Resources.Limits)
	return append(errs, rule.When(!equality.Semantic.DeepEqual(rest, was),
		field.Forbidden(spec, "only cpu and memory resources are mutable"))...)
}

func removed(is, was corev1.ResourceList) bool {
	for name := range was {
		if _, found := is[name]; !found {
			return true
		}
	}
	return false
}

// keepResizable sets what may be resized to what it was.
func keepResizable(to *corev1.ResourceList, was corev1.ResourceList) {
	for _, name := range forPods {
		old, had := was[name]
		_, has := (*to)[name]
		switch {
		case had && *to == nil:
			*to = corev1.ResourceList{name: old}
		case had:
			(*to)[name] = old
		case has:
			delete(*to, name)
		}
	}
}

package podsecurity

import (
	"context"
	"fmt"
	"slices"
	"time"

	"apigen.dev/runtime/reach"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// templateOf returns the template of pods that an object has, or nil.
func templateOf(obj any) *core.PodTemplateSpec {
	switch o := obj.(type) {
	case *core.PodTemplate:
		return &o.Template
	case *core.ReplicationController:
		return o.Spec.Template
	case *apps.ReplicaSet:
		return &o.Spec.Template
	case *apps.Deployment:
		return &o.Spec.Template
	case *apps.DaemonSet:
		return &o.Spec.Template
	case *apps.StatefulSet:
		return &o.Spec.Template
	case *batch.Job:
		return &o.Spec.Template
	case *batch.CronJob:
		return &o.Spec.JobTemplate.Spec.Template
	}
	return nil
}

// changesImages reports whether an update changes what runs in a pod: other fields that matter can't change.
func changesImages(pod, old *core.Pod) bool {
	image := func(a, b core.Container) bool { return a.Image == b.Image }
	if !slices.EqualFunc(pod.Spec.Containers, old.Spec.Containers, image) ||
		!slices.EqualFunc(pod.Spec.InitContainers, old.Spec.InitContainers, image) {
		return true
	}
	return slices.ContainsFunc(pod.Spec.EphemeralContainers, func(c core.EphemeralContainer) bool {
		return !slices.ContainsFunc(old.Spec.EphemeralContainers, func(before core.EphemeralContainer) bool {
			return before.Name == c.Name && before.Image == c.Image
		})
	})
}

// A change of a namespace checks so many pods, and takes so long, as in kube-apiserver.
const (
	maxPods      = 3000
	maxCheckTime = time.Second
)

// violations returns warnings about the pods of a namespace that a level refuses: one for each reason.
func (f *Feature) violations(ctx context.Context, namespace string, level api.LevelVersion) []string {
	limit := maxCheckTime
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	pods, err := reach.Of[*core.Pod](ctx)
	if err != nil {
		return nil // the server has no pods
	}
	all, err := pods.List(ctx, namespace, nil)
	if err != nil {
		return []string{"failed to list pods while checking new PodSecurity enforce level"}
	}
	all = f.distinctFirst(all)
	reasons, checked := f.check(ctx, all[:min(len(all), maxPods)], level)
	var warnings []string
	if checked < len(all) {
		warnings = append(warnings, fmt.Sprintf("new PodSecurity enforce level only checked against the first %d of "+
			"%d existing pods", checked, len(all)))
	}
	if len(reasons) > 0 {
		warnings = append(warnings, fmt.Sprintf("existing pods in namespace %q violate the new PodSecurity enforce "+
			"level %q", namespace, level.String()))
	}
	var lines []string
	for reason, names := range reasons {
		lines = append(lines, describe(names)+": "+reason)
	}
	slices.Sort(lines)
	return append(warnings, lines...)
}

// check returns the names of pods by the reason why a level refuses them, and how many pods it has checked.
func (f *Feature) check(ctx context.Context, pods []*core.Pod, level api.LevelVersion) (map[string][]string, int) {
	reasons := map[string][]string{}
	for i, pod := range pods {
		result := policy.AggregateCheckResults(f.evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
		if !result.Allowed {
			reasons[result.ForbiddenReason()] = append(reasons[result.ForbiddenReason()], pod.Name)
		}
		if ctx.Err() != nil {
			return reasons, i + 1
		}
	}
	return reasons, len(pods)
}

func describe(names []string) string {
	switch first := slices.Min(names); len(names) {
	case 1:
		return first
	case 2:
		return first + " (and 1 other pod)"
	default:
		return fmt.Sprintf("%s (and %d other pods)", first, len(names)-1)
	}
}

// distinctFirst returns the pods that aren't exempt: one of each controller first, since its others are alike.
func (f *Feature) distinctFirst(pods []*core.Pod) []*core.Pod {
	var first, alike []*core.Pod
	seen := map[types.UID]bool{}
	for _, pod := range pods {
		class := pod.Spec.RuntimeClassName
		if class != nil && slices.Contains(f.exemptions.RuntimeClasses, *class) {
			continue
		}
		owner := metav1.GetControllerOfNoCopy(pod)
		if owner != nil && seen[owner.UID] {
			alike = append(alike, pod)
			continue
		}
		if owner != nil {
			seen[owner.UID] = true
		}
		first = append(first, pod)
	}
	return append(first, alike...)
}

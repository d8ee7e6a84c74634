package v1

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"apigen.dev/runtime/reach"
)

// evictor is the field manager of a budget's fields that an eviction sets.
const evictor = "eviction"

// Eviction_Pod implements pods/eviction, which kubectl drain uses. It deletes the pod if the pod's disruption budget
// allows that.
func Eviction_Pod(ctx context.Context, pod *corev1.Pod, in *policyv1.Eviction) (*metav1.DeleteOptions, error) {
	options := in.DeleteOptions
	if options == nil {
		options = &metav1.DeleteOptions{}
	}
	if len(options.DryRun) > 0 {
		ctx = reach.DryRun(ctx)
	}
	if !runs(pod) {
		return options, nil
	}
	budgets, err := reach.Of[*policyv1.PodDisruptionBudget](ctx)
	if err != nil {
		return options, nil //nolint:nilerr // budgets are switched off: nothing holds the pod
	}
	budget, err := budgetOf(ctx, pod, budgets)
	if err != nil || budget == nil || !counts(pod, budget) {
		return options, err
	}
	_, err = budgets.Update(ctx, pod.Namespace, budget.Name, reach.Write{Subresource: "status", Manager: evictor},
		func(budget *policyv1.PodDisruptionBudget) error { return spend(budget, pod) })
	return options, err
}

// runs reports whether an eviction would disrupt the pod's work.
func runs(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
}

// budgetOf returns the budget that selects the pod, or nil.
func budgetOf(
	ctx context.Context, pod *corev1.Pod, budgets reach.Objects[*policyv1.PodDisruptionBudget],
) (*policyv1.PodDisruptionBudget, error) {
	all, err := budgets.List(ctx, pod.Namespace, nil)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(budget *policyv1.PodDisruptionBudget) bool {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		return err != nil || !selector.Matches(labels.Set(pod.Labels))
	})
	switch len(all) {
	case 0:
		return nil, nil
	case 1:
		return all[0], nil
	}
	return nil, apierrors.NewInternalError(
		errors.New("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."))
}

// counts reports whether a budget protects the pod. A pod that isn't ready is protected as the budget's policy says.
func counts(pod *corev1.Pod, budget *policyv1.PodDisruptionBudget) bool {
	if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}) {
		return true
	}
	if policy := budget.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return false
	}
	return budget.Status.DesiredHealthy == 0 || budget.Status.CurrentHealthy < budget.Status.DesiredHealthy
}

// spend counts the pod's disruption in its budget, once.
func spend(budget *policyv1.PodDisruptionBudget, pod *corev1.Pod) error {
	status := &budget.Status
	if _, spent := status.DisruptedPods[pod.Name]; spent {
		return nil
	}
	if status.ObservedGeneration < budget.Generation {
		return refusal(fmt.Sprintf("The disruption budget %s is still being processed by the server.", budget.Name))
	}
	if status.DisruptionsAllowed <= 0 {
		return refusal(fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently",
			budget.Name, status.DesiredHealthy, status.CurrentHealthy))
	}
	status.DisruptionsAllowed--
	if status.DisruptedPods == nil {
		status.DisruptedPods = map[string]metav1.Time{}
	}
	status.DisruptedPods[pod.Name] = metav1.NewTime(time.Now())
	return nil
}

// refusal returns a 429 without a time to retry after: clients see it at once, and kubectl drain retries by itself.
func refusal(cause string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes,
		metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: cause})
	return err
}

package v1

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReadyColumn_Pod returns the ready containers and all that keep running, such as 1/2.
func ReadyColumn_Pod(pod *corev1.Pod) string {
	all := len(pod.Spec.Containers)
	for i := range pod.Spec.InitContainers {
		if isSidecar(&pod.Spec.InitContainers[i]) {
			all++
		}
	}
	return fmt.Sprintf("%d/%d", progressOf(pod).ready, all)
}

// StatusColumn_Pod returns what keeps a pod from running, or else its phase.
func StatusColumn_Pod(pod *corev1.Pod) string {
	const nodeLost = "NodeLost" // the reason of a pod whose node can't be reached
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	switch {
	case pod.DeletionTimestamp != nil && pod.Status.Reason == nodeLost:
		return "Unknown"
	case pod.DeletionTimestamp != nil && !ended:
		return "Terminating"
	}
	return progressOf(pod).status
}

// RestartsColumn_Pod counts the restarts of containers and tells when the last one was, such as 3 (5m ago).
func RestartsColumn_Pod(pod *corev1.Pod) (before string, since *metav1.Time, after string) {
	restarts := progressOf(pod).restarts
	count := strconv.Itoa(restarts.count)
	if restarts.count == 0 || restarts.last.IsZero() {
		return count, nil, ""
	}
	return count + " (", &restarts.last, " ago)"
}

// IPColumn_Pod returns the first address of a pod.
func IPColumn_Pod(pod *corev1.Pod) string {
	ip := pod.Status.PodIP
	if ip == "" && len(pod.Status.PodIPs) > 0 {
		ip = pod.Status.PodIPs[0].IP
	}
	return cmp.Or(ip, none)
}

// NodeColumn_Pod returns the node of a pod.
func NodeColumn_Pod(pod *corev1.Pod) string { return cmp.Or(pod.Spec.NodeName, none) }

// NominatedNodeColumn_Pod returns the node that a pod waits for.
func NominatedNodeColumn_Pod(pod *corev1.Pod) string {
	return cmp.Or(pod.Status.NominatedNodeName, none)
}

// ReadinessGatesColumn_Pod returns the readiness gates that are open and all of them, such as 1/2.
func ReadinessGatesColumn_Pod(pod *corev1.Pod) string {
	gates, open := pod.Spec.ReadinessGates, 0
	for _, gate := range gates {
		if isTrue(pod, gate.ConditionType) {
			open++
		}
	}
	if len(gates) == 0 {
		return none
	}
	return fmt.Sprintf("%d/%d", open, len(gates))
}

// none is shown instead of an empty text.
const none = "<none>"

// progress is how far the containers of a pod are.
type progress struct {
	status   string
	ready    int
	restarts restarts
}

// restarts counts restarts. last is when the last container ended that was restarted.
type restarts struct {
	count int
	last  metav1.Time
}

func (r *restarts) add(c *corev1.ContainerStatus) {
	r.count += int(c.RestartCount)
	if ended := c.LastTerminationState.Terminated; ended != nil && r.last.Before(&ended.FinishedAt) {
		r.last = ended.FinishedAt
	}
}

func progressOf(pod *corev1.Pod) progress {
	p := progress{status: cmp.Or(pod.Status.Reason, string(pod.Status.Phase))}
	if c := condition(pod, corev1.PodScheduled); c != nil && c.Reason == corev1.PodReasonSchedulingGated {
		p.status = corev1.PodReasonSchedulingGated
	}
	if sidecars, done := p.initialize(pod); done || isTrue(pod, corev1.PodInitialized) {
		p.restarts = sidecars
		p.run(pod)
	}
	return p
}

// initialize looks at the init containers up to the first that is not done. It returns the restarts of the sidecars
// among them, and whether all are done.
func (p *progress) initialize(pod *corev1.Pod) (sidecars restarts, done bool) {
	for i := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[i]
		p.restarts.add(status)
		sidecar := slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
			return c.Name == status.Name && isSidecar(&c)
		})
		if sidecar {
			sidecars.add(status)
		}
		ended := status.State.Terminated
		switch {
		case ended != nil && ended.ExitCode == 0:
		case sidecar && status.Started != nil && *status.Started:
			if status.Ready {
				p.ready++
			}
		default:
			at := fmt.Sprintf("%d/%d", i, len(pod.Spec.InitContainers))
			p.status = "Init:" + cmp.Or(ending(ended), delay(status), at)
			return sidecars, false
		}
	}
	return sidecars, true
}

// delay returns the reason for which an init container waits, unless it only waits for those before it.
func delay(status *corev1.ContainerStatus) string {
	if waiting := status.State.Waiting; waiting != nil && waiting.Reason != "PodInitializing" {
		return waiting.Reason
	}
	return ""
}

// run looks at the containers: the first that waits or ended counts.
func (p *progress) run(pod *corev1.Pod) {
	running, failure := false, ""
	for i := range slices.Backward(pod.Status.ContainerStatuses) {
		status := &pod.Status.ContainerStatuses[i]
		p.restarts.add(status)
		waiting, ended := status.State.Waiting, status.State.Terminated
		switch {
		case waiting != nil && waiting.Reason != "":
			p.status = waiting.Reason
		case ended != nil:
			p.status = ending(ended)
			if ended.ExitCode != 0 {
				failure = p.status
			}
		case status.Ready && status.State.Running != nil:
			running = true
			p.ready++
		}
	}
	if p.status != "Completed" {
		return
	}
	switch {
	case running && isTrue(pod, corev1.PodReady):
		p.status = string(corev1.PodRunning)
	case failure != "":
		p.status = failure
	case running:
		p.status = "NotReady"
	}
}

// ending returns how a container ended; empty if it didn't.
func ending(ended *corev1.ContainerStateTerminated) string {
	switch {
	case ended == nil:
		return ""
	case ended.Reason != "":
		return ended.Reason
	case ended.Signal != 0:
		return fmt.Sprintf("Signal:%d", ended.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", ended.ExitCode)
}

// isSidecar reports whether an init container keeps running beside the containers.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// condition returns the first condition of a type, or nil.
func condition(pod *corev1.Pod, of corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == of {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func isTrue(pod *corev1.Pod, of corev1.PodConditionType) bool {
	c := condition(pod, of)
	return c != nil && c.Status == corev1.ConditionTrue
}

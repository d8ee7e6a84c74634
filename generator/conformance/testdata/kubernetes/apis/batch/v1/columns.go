package v1

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// ActiveColumn_CronJob counts the jobs that run.
func ActiveColumn_CronJob(in *batchv1.CronJob) int { return len(in.Status.Active) }

// StatusColumn_Job tells how far a job is.
func StatusColumn_Job(in *batchv1.Job) string {
	status := "Running"
	for _, c := range in.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			status = string(c.Type)
		}
	}
	return status
}

// CompletionsColumn_Job counts the pods that have succeeded.
func CompletionsColumn_Job(in *batchv1.Job) string {
	if in.Spec.Completions == nil {
		return fmt.Sprintf("%d/1 of %d", in.Status.Succeeded, max(1, *in.Spec.Parallelism))
	}
	return fmt.Sprintf("%d/%d", in.Status.Succeeded, *in.Spec.Completions)
}

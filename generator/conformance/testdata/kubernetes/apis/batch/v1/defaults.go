package v1

import (
	batchv1 "k8s.io/api/batch/v1"

	"example.com/conformance/apis/internal/defaults"
)

// SetDefaults_Job sets how many pods a job runs, and how often it tries again.
func SetDefaults_Job(in *batchv1.Job) {
	if in.Spec.Completions == nil && in.Spec.Parallelism == nil {
		defaults.Pointer(&in.Spec.Completions, 1)
	}
	defaults.Pointer(&in.Spec.Parallelism, 1)
	defaults.Pointer(&in.Spec.CompletionMode, batchv1.NonIndexedCompletion)
	defaults.Pointer(&in.Spec.Suspend, false)
	defaults.Pointer(&in.Spec.ManualSelector, false)
	defaults.Pointer(&in.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	if in.Spec.BackoffLimitPerIndex == nil {
		defaults.Pointer(&in.Spec.BackoffLimit, 6)
	}
	if len(in.Labels) == 0 {
		in.Labels = in.Spec.Template.DeepCopy().Labels
	}
}

// SetDefaults_CronJob sets how many jobs may run, and how many are kept.
func SetDefaults_CronJob(in *batchv1.CronJob) {
	defaults.Value(&in.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
	defaults.Pointer(&in.Spec.Suspend, false)
	defaults.Pointer(&in.Spec.SuccessfulJobsHistoryLimit, 3)
	defaults.Pointer(&in.Spec.FailedJobsHistoryLimit, 1)
}

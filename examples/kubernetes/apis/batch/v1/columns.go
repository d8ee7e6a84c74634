package v1

import (
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"example.com/kubernetes/internal/column"
)

// TimezoneColumn_CronJob names the time zone of the schedule.
func TimezoneColumn_CronJob(cron *batchv1.CronJob) string {
	return column.Or(cron.Spec.TimeZone, column.None)
}

// SuspendColumn_CronJob says whether a cron job starts no jobs.
func SuspendColumn_CronJob(cron *batchv1.CronJob) string {
	if cron.Spec.Suspend == nil {
		return "<unset>"
	}
	return map[bool]string{true: "True", false: "False"}[*cron.Spec.Suspend]
}

// ActiveColumn_CronJob counts the jobs that run.
func ActiveColumn_CronJob(cron *batchv1.CronJob) int { return len(cron.Status.Active) }

// LastScheduleColumn_CronJob tells when a cron job started its last job.
func LastScheduleColumn_CronJob(cron *batchv1.CronJob) (before string, since *metav1.Time, after string) {
	if cron.Status.LastScheduleTime == nil {
		return column.None, nil, ""
	}
	return "", cron.Status.LastScheduleTime, ""
}

// shownConditions are the conditions of jobs that the column Status shows, by precedence. The phase of a job that is
// being deleted stands between those before and behind terminating.
var shownConditions = []batchv1.JobConditionType{
	batchv1.JobComplete, batchv1.JobFailed, terminating, batchv1.JobSuspended, batchv1.JobFailureTarget,
	batchv1.JobSuccessCriteriaMet,
}

const terminating batchv1.JobConditionType = "Terminating"

// StatusColumn_Job tells what becomes of a job.
func StatusColumn_Job(job *batchv1.Job) string {
	for _, shown := range shownConditions {
		is := func(c batchv1.JobCondition) bool { return c.Type == shown && c.Status == corev1.ConditionTrue }
		if shown == terminating && job.DeletionTimestamp != nil || slices.ContainsFunc(job.Status.Conditions, is) {
			return string(shown)
		}
	}
	return "Running"
}

// CompletionsColumn_Job counts the pods that succeeded, beside those that are wanted.
func CompletionsColumn_Job(job *batchv1.Job) string {
	done := strconv.Itoa(int(job.Status.Succeeded)) + "/"
	switch {
	case job.Spec.Completions != nil:
		return done + strconv.Itoa(int(*job.Spec.Completions))
	case job.Spec.Parallelism != nil && *job.Spec.Parallelism > 1:
		return fmt.Sprintf("%s1 of %d", done, *job.Spec.Parallelism)
	}
	return done + "1"
}

// DurationColumn_Job tells how long a job has run.
func DurationColumn_Job(job *batchv1.Job) (before string, since *metav1.Time, after string) {
	switch {
	case job.Status.StartTime == nil:
		return "", nil, ""
	case job.Status.CompletionTime == nil:
		return "", job.Status.StartTime, ""
	}
	return duration.HumanDuration(job.Status.CompletionTime.Sub(job.Status.StartTime.Time)), nil, ""
}

// ContainersColumn_CronJob lists the names of the containers.
func ContainersColumn_CronJob(cron *batchv1.CronJob) string {
	return column.Containers(&cron.Spec.JobTemplate.Spec.Template)
}

// ContainersColumn_Job lists the names of the containers.
func ContainersColumn_Job(job *batchv1.Job) string { return column.Containers(&job.Spec.Template) }

// ImagesColumn_CronJob lists the images of the containers.
func ImagesColumn_CronJob(cron *batchv1.CronJob) string {
	return column.Images(&cron.Spec.JobTemplate.Spec.Template)
}

// ImagesColumn_Job lists the images of the containers.
func ImagesColumn_Job(job *batchv1.Job) string { return column.Images(&job.Spec.Template) }

// SelectorColumn_CronJob shows the selector of the pods.
func SelectorColumn_CronJob(cron *batchv1.CronJob) string {
	return metav1.FormatLabelSelector(cron.Spec.JobTemplate.Spec.Selector)
}

// SelectorColumn_Job shows the selector of the pods.
func SelectorColumn_Job(job *batchv1.Job) string {
	return metav1.FormatLabelSelector(job.Spec.Selector)
}

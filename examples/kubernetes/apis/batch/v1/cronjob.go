package v1

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_CronJob sets what becomes of jobs that overlap, or have ended.
func SetDefaults_CronJob(in *batchv1.CronJob) {
	defaults.Value(&in.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
	defaults.Pointer(&in.Spec.Suspend, false)
	defaults.Pointer(&in.Spec.SuccessfulJobsHistoryLimit, 3)
	defaults.Pointer(&in.Spec.FailedJobsHistoryLimit, 1)
}

// PrepareForCreate_CronJob leaves the status to the controller.
func PrepareForCreate_CronJob(_ context.Context, in *batchv1.CronJob) {
	in.Status = batchv1.CronJobStatus{}
	dropDisabled(&in.Spec.JobTemplate.Spec)
}

// PrepareForUpdate_CronJob keeps the status.
func PrepareForUpdate_CronJob(_ context.Context, in, old *batchv1.CronJob) {
	in.Status = old.Status
	dropDisabled(&in.Spec.JobTemplate.Spec)
}

// longestCronJob is how long the name may be, so that the time of a job fits behind it.
const longestCronJob = 52

// ValidateObject_CronJob returns the errors of a cron job, but for its schedule on an update.
func ValidateObject_CronJob(_ context.Context, in *batchv1.CronJob) (errs field.ErrorList) {
	spec, path := &in.Spec, field.NewPath("spec")
	created := in.ResourceVersion == ""
	if created {
		errs = append(validateSchedule(spec, false, path.Child("schedule")),
			validateTimeZone(spec.TimeZone, path.Child("timeZone"))...)
	}
	job := path.Child("jobTemplate", "spec")
	errs = rule.All(errs,
		rule.OptionalNotNegative(path.Child("startingDeadlineSeconds"), spec.StartingDeadlineSeconds),
		rule.RequiredOneOf(path.Child("concurrencyPolicy"), spec.ConcurrencyPolicy, batchv1.AllowConcurrent,
			batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent),
		validateSpec(&spec.JobTemplate.Spec, job),
	)
	if selector := spec.JobTemplate.Spec.Selector; selector != nil {
		errs = append(errs, field.Invalid(job.Child("selector"), selector, "`selector` will be auto-generated"))
	}
	if manual := spec.JobTemplate.Spec.ManualSelector; manual != nil && *manual {
		errs = append(errs, field.NotSupported(job.Child("manualSelector"), manual, []string{"nil", "false"}))
	}
	return rule.All(errs,
		rule.OptionalNotNegative(path.Child("successfulJobsHistoryLimit"), spec.SuccessfulJobsHistoryLimit),
		rule.OptionalNotNegative(path.Child("failedJobsHistoryLimit"), spec.FailedJobsHistoryLimit),
		rule.When(created && len(in.Name) > longestCronJob, field.Invalid(field.NewPath("metadata", "name"), in.Name,
			"must be no more than 52 characters")),
	)
}

// ValidateUpdate_CronJob returns the errors of a schedule that may have been stored with a time zone in it.
func ValidateUpdate_CronJob(_ context.Context, in, old *batchv1.CronJob) field.ErrorList {
	path := field.NewPath("spec")
	errs := validateSchedule(&in.Spec, strings.Contains(old.Spec.Schedule, "TZ"), path.Child("schedule"))
	is, was := in.Spec.TimeZone, old.Spec.TimeZone
	if (is == nil) == (was == nil) && (is == nil || *is == *was) {
		return errs
	}
	return append(errs, validateTimeZone(is, path.Child("timeZone"))...)
}

func validateSchedule(spec *batchv1.CronJobSpec, mayHaveZone bool, path *field.Path) (errs rule.Errors) {
	if spec.Schedule == "" {
		return nil // the type's own tags report that there is none
	}
	if _, err := cron.ParseStandard(spec.Schedule); err != nil {
		errs = append(errs, field.Invalid(path, spec.Schedule, err.Error()))
	}
	hasZone := strings.Contains(spec.Schedule, "TZ")
	errs = append(errs, rule.When(hasZone && mayHaveZone && spec.TimeZone != nil, field.Invalid(path, spec.Schedule,
		"cannot use both timeZone field and TZ or CRON_TZ in schedule"))...)
	return append(errs, rule.When(hasZone && !mayHaveZone, field.Invalid(path, spec.Schedule,
		"cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))...)
}

var zonePart = regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`)

func validateTimeZone(zone *string, path *field.Path) (errs rule.Errors) {
	if zone == nil {
		return nil
	}
	if *zone == "" {
		return rule.Errors{field.Invalid(path, zone, "timeZone must be nil or non-empty string")}
	}
	wrong := func(part string) bool {
		return part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePart.MatchString(part)
	}
	errs = rule.When(slices.ContainsFunc(strings.Split(*zone, "/"), wrong), field.Invalid(path, zone,
		"unknown time zone "+*zone))
	errs = append(errs, rule.When(strings.EqualFold(*zone, "Local"), field.Invalid(path, zone,
		"timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"))...)
	if _, err := time.LoadLocation(*zone); err != nil {
		errs = append(errs, field.Invalid(path, zone, err.Error()))
	}
	return errs
}

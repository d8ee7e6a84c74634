package v1

import (
	"context"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxCronName leaves 11 characters for the names of jobs.
const maxCronName = 52

var metadata = field.NewPath("metadata")

// Validate bounds the name.
func (c *CronNamed) Validate(context.Context) field.ErrorList {
	if len(c.Name) > maxCronName {
		return field.ErrorList{field.Invalid(metadata.Child("name"), c.Name, validation.MaxLenError(maxCronName))}
	}
	return nil
}

// Validate wants the name that follows from the object: of a plural and a group, which are empty here.
func (p *PluralNamed) Validate(context.Context) field.ErrorList {
	return named(&p.ObjectMeta, ".", `must be spec.names.plural+"."+spec.group`, func(string) bool { return true })
}

// Validate wants the name that follows from the object, unless the marker's rule has refused the name already.
func (v *VersionNamed) Validate(context.Context) field.ErrorList {
	return named(&v.ObjectMeta, ".", "must be `spec.version+\".\"+spec.group`: \".\"", func(name string) bool {
		return len(content.IsPathSegmentName(name)) == 0
	})
}

func named(meta *metav1.ObjectMeta, want, message string, asks func(string) bool) (errs field.ErrorList) {
	if prefix := meta.GenerateName; prefix != "" && prefix != want && asks(prefix) {
		errs = append(errs, field.Invalid(metadata.Child("generateName"), prefix, message))
	}
	if meta.Name != want && asks(meta.Name) {
		errs = append(errs, field.Invalid(metadata.Child("name"), meta.Name, message))
	}
	return errs
}

// Validate refuses all metadata.
func (r *NamelessReview) Validate(context.Context) field.ErrorList {
	return nameless(&r.ObjectMeta, "must be empty")
}

// Validate refuses all metadata but a namespace.
func (r *LocalReview) Validate(context.Context) field.ErrorList {
	return nameless(&r.ObjectMeta, "must be empty except for namespace")
}

func nameless(meta *metav1.ObjectMeta, message string) field.ErrorList {
	if meta.Name == "" && meta.GenerateName == "" {
		return nil
	}
	return field.ErrorList{field.Invalid(metadata, meta.Name, message)}
}

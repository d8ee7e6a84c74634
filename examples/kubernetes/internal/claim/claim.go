// Package claim validates the specifications of claims of volumes, which are within claims and within templates of
// claims.
package claim

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// ValidateSpec validates a specification of a claim.
func ValidateSpec(spec *corev1.PersistentVolumeClaimSpec, path *field.Path) rule.Errors {
	errs := rule.When(len(spec.AccessModes) == 0, field.Required(path.Child("accessModes"),
		"at least 1 access mode is required"))
	if spec.Selector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(spec.Selector,
			metav1validation.LabelSelectorValidationOptions{}, path.Child("selector"))...)
	}
	return rule.All(
		errs,
		ValidateModes(spec.AccessModes, path.Child("accessModes")),
		validateSize(spec.Resources.Requests, path.Child("resources").Key(string(corev1.ResourceStorage))),
		class(path.Child("storageClassName"), spec.StorageClassName),
		rule.OptionalOneOf(path.Child("volumeMode"), spec.VolumeMode, corev1.PersistentVolumeBlock,
			corev1.PersistentVolumeFilesystem),
		validateSources(spec, path),
		class(path.Child("volumeAttributesClassName"), spec.VolumeAttributesClassName),
	)
}

// ValidateModes validates how a volume can be mounted.
func ValidateModes(modes []corev1.PersistentVolumeAccessMode, path *field.Path) (errs rule.Errors) {
	supported := []corev1.PersistentVolumeAccessMode{
		corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod,
	}
	others := false
	for _, mode := range modes {
		errs = append(errs, rule.OneOf(path, mode, supported...)...)
		others = others || mode != corev1.ReadWriteOncePod && slices.Contains(supported, mode)
	}
	return append(errs, rule.When(others && slices.Contains(modes, corev1.ReadWriteOncePod), field.Forbidden(path,
		"may not use ReadWriteOncePod with other access modes"))...)
}

func validateSize(requests corev1.ResourceList, path *field.Path) rule.Errors {
	size, found := requests[corev1.ResourceStorage]
	if !found {
		return rule.Errors{field.Required(path, "")}
	}
	return PositiveQuantity(path, size)
}

// PositiveQuantity wants a quantity above 0.
func PositiveQuantity(path *field.Path, size resource.Quantity) rule.Errors {
	return rule.When(size.Sign() <= 0, field.Invalid(path, size.String(), "must be greater than zero"))
}

func class(path *field.Path, name *string) rule.Errors {
	if name == nil || *name == "" {
		return nil
	}
	return rule.Subdomain(path, *name)
}

// validateSources validates what the volume is filled with.
func validateSources(spec *corev1.PersistentVolumeClaimSpec, path *field.Path) (errs rule.Errors) {
	source, ref := spec.DataSource, spec.DataSourceRef
	if source != nil {
		errs = append(errs, validateSource(source.APIGroup, source.Kind, source.Name, path.Child("dataSource"))...)
	}
	if ref == nil {
		return errs
	}
	errs = append(errs, validateSource(ref.APIGroup, ref.Kind, ref.Name, path.Child("dataSourceRef"))...)
	elsewhere := ref.Namespace != nil && *ref.Namespace != ""
	switch {
	case elsewhere && source != nil:
		errs = append(errs, field.Invalid(path, path.Child("dataSource"),
			"may not be specified when dataSourceRef.namespace is specified"))
	case source != nil && (source.Kind != ref.Kind || source.Name != ref.Name ||
		value(source.APIGroup) != value(ref.APIGroup)):
		errs = append(errs, field.Invalid(path, path.Child("dataSource"), "must match dataSourceRef"))
	}
	return errs
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func validateSource(group *string, kind, name string, path *field.Path) rule.Errors {
	errs := append(rule.Required(path.Child("name"), name), rule.Required(path.Child("kind"), kind)...)
	if value(group) == "" {
		return append(errs, rule.When(kind != "PersistentVolumeClaim", field.Invalid(path, kind,
			"must be 'PersistentVolumeClaim' when referencing the default apiGroup"))...)
	}
	return append(errs, rule.Subdomain(path.Child("apiGroup"), *group)...)
}

// ValidateTemplate validates the claim that a pod gets for a volume of its own.
func ValidateTemplate(template *corev1.PersistentVolumeClaimTemplate, path *field.Path) rule.Errors {
	meta := path.Child("metadata")
	errs := append(apivalidation.ValidateAnnotations(template.Annotations, meta.Child("annotations")),
		metav1validation.ValidateLabels(template.Labels, meta.Child("labels"))...)
	errs = append(errs, validateTemplateMeta(&template.ObjectMeta, meta)...)
	return append(errs, ValidateSpec(&template.Spec, path.Child("spec"))...)
}

// validateTemplateMeta refuses what a template can't have: it has labels and annotations alone.
func validateTemplateMeta(meta *metav1.ObjectMeta, path *field.Path) (errs rule.Errors) {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"name", meta.Name != ""}, {"generateName", meta.GenerateName != ""}, {"namespace", meta.Namespace != ""},
		{"uID", meta.UID != ""}, {"resourceVersion", meta.ResourceVersion != ""},
		{"ownerReferences", meta.OwnerReferences != nil}, {"finalizers", meta.Finalizers != nil},
	} {
		errs = append(errs, rule.When(f.set, field.Forbidden(path.Child(f.name), "cannot be set"))...)
	}
	return errs
}

package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

func lower(text string) string { return strings.ToLower(text) }

// projection is a projected volume while it is validated: no two of its files have one path.
type projection struct {
	path  *field.Path
	taken []string
}

func (p *projection) once(file string, shown any) rule.Errors {
	if file == "" {
		return nil
	}
	twice := slices.Contains(p.taken, file)
	p.taken = append(p.taken, file)
	return rule.When(twice, field.Invalid(p.path, shown, "conflicting duplicate paths"))
}

func (p *projection) validateItems(name string, items []corev1.KeyToPath, path *field.Path) rule.Errors {
	errs := rule.Required(path.Child("name"), name)
	return append(errs, rule.Each(items, path.Child("items"),
		func(item *corev1.KeyToPath, path *field.Path) rule.Errors {
			return append(validateFile(item, path), p.once(item.Path, name)...)
		})...)
}

func validateProjected(volume *corev1.ProjectedVolumeSource, path *field.Path) rule.Errors {
	p := &projection{path: path}
	errs := validateMode(path.Child("defaultMode"), volume.DefaultMode)
	return append(errs, rule.Each(volume.Sources, path.Child("sources"), p.validateSource)...)
}

func (p *projection) validateSource(of *corev1.VolumeProjection, path *field.Path) (errs rule.Errors) {
	sources := 0
	for _, source := range []source{
		{"secret", of.Secret != nil, func(path *field.Path) rule.Errors {
			return p.validateItems(of.Secret.Name, of.Secret.Items, path)
		}},
		{"configMap", of.ConfigMap != nil, func(path *field.Path) rule.Errors {
			return p.validateItems(of.ConfigMap.Name, of.ConfigMap.Items, path)
		}},
		{"downwardAPI", of.DownwardAPI != nil, func(path *field.Path) (errs rule.Errors) {
			for i := range of.DownwardAPI.Items {
				errs = append(errs, validateDownwardFile(&of.DownwardAPI.Items[i], path)...)
				errs = append(errs, p.once(of.DownwardAPI.Items[i].Path, of.DownwardAPI.Items[i].Path)...)
			}
			return errs
		}},
		{"serviceAccountToken", of.ServiceAccountToken != nil, func(path *field.Path) rule.Errors {
			return p.validateToken(of.ServiceAccountToken, path)
		}},
	} {
		if source.set {
			errs = append(errs, source.check(path.Child(source.name))...)
			sources++
		}
	}
	return append(errs, rule.When(sources > 1,
		field.Forbidden(path, "may not specify more than 1 volume type per source"))...)
}

func (p *projection) validateToken(token *corev1.ServiceAccountTokenProjection, path *field.Path) (errs rule.Errors) {
	if seconds, at := token.ExpirationSeconds, path.Child("expirationSeconds"); seconds != nil {
		errs = append(errs, rule.When(*seconds < 10*60, field.Invalid(at, *seconds,
			"may not specify a duration less than 10 minutes"))...)
		errs = append(errs, rule.When(*seconds > 1<<32, field.Invalid(at, *seconds,
			"may not specify a duration larger than 2^32 seconds"))...)
	}
	if token.Path == "" {
		return append(errs, field.Required(p.path.Child("path"), ""))
	}
	return append(errs, localPath(p.path.Child("path"), token.Path)...)
}

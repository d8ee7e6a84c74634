package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

func validateEnv(vars []corev1.EnvVar, path *field.Path) rule.Errors {
	return rule.Each(vars, path, func(v *corev1.EnvVar, path *field.Path) rule.Errors {
		errs := rule.Required(path.Child("name"), v.Name)
		if v.Name != "" {
			errs = rule.Texts(path.Child("name"), v.Name, validation.IsRelaxedEnvVarName(v.Name))
		}
		return append(errs, validateValueFrom(v, path.Child("valueFrom"))...)
	})
}

// sourcesOfValues are where a value can come from, as an error names them.
const sourcesOfValues = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or " +
	"`fileKeyRef`"

func validateValueFrom(v *corev1.EnvVar, path *field.Path) (errs rule.Errors) {
	from := v.ValueFrom
	if from == nil {
		return nil
	}
	sources := 0
	if from.FieldRef != nil {
		sources++
		errs = append(errs, validateFieldRef(from.FieldRef, envFields, path.Child("fieldRef"))...)
	}
	if from.ResourceFieldRef != nil {
		sources++
		errs = append(errs, validateResourceRef(from.ResourceFieldRef, false, path.Child("resourceFieldRef"))...)
	}
	if ref := from.ConfigMapKeyRef; ref != nil {
		sources++
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, path.Child("configMapKeyRef"))...)
	}
	if ref := from.SecretKeyRef; ref != nil {
		sources++
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, path.Child("secretKeyRef"))...)
	}
	if from.FileKeyRef != nil {
		sources++
		errs = append(errs, validateFileKeyRef(from.FileKeyRef, path.Child("fileKeyRef"))...)
	}
	switch {
	case sources == 0:
		return append(errs, field.Invalid(path, "", sourcesOfValues))
	case v.Value != "":
		return append(errs, field.Invalid(path, "", "may not be specified when `value` is not empty"))
	case sources > 1:
		return append(errs, field.Invalid(path, "", "may not have more than one field specified at a time"))
	}
	return errs
}

// The fields of a pod that its containers can read, in variables and in files.
var (
	envFields = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	fileFields = []string{
		"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
	}
	// knownFields are those that a path can be converted from at all.
	knownFields = slices.Concat(fileFields, envFields, []string{"spec.restartPolicy", "spec.schedulerName",
		"status.phase", "spec.host"})
	// subscripted are the fields of which a path can name one entry.
	subscripted = []string{"metadata.annotations", "metadata.labels"}
)

func validateFieldRef(ref *corev1.ObjectFieldSelector, fields []string, path *field.Path) rule.Errors {
	if ref.APIVersion == "" {
		return rule.Errors{field.Required(path.Child("apiVersion"), "")}
	}
	if ref.FieldPath == "" {
		return rule.Errors{field.Required(path.Child("fieldPath"), "")}
	}
	wrong := func(message string) rule.Errors {
		return rule.Errors{field.Invalid(path.Child("fieldPath"), ref.FieldPath,
			"error converting fieldPath: "+message)}
	}
	if ref.APIVersion != "v1" {
		return wrong("unsupported pod version: " + ref.APIVersion)
	}
	of, entry, isEntry := splitEntry(ref.FieldPath)
	switch {
	case isEntry && of == "metadata.annotations":
		return rule.QualifiedName(path, strings.ToLower(entry))
	case isEntry && of == "metadata.labels":
		return rule.QualifiedName(path, entry)
	case isEntry:
		return wrong("field label does not support subscript: " + ref.FieldPath)
	case !slices.Contains(knownFields, of):
		return wrong("field label not supported: " + of)
	}
	return rule.OneOf(path.Child("fieldPath"), of, fields...)
}

// splitEntry returns the field and the entry of a path such as metadata.labels['a'].
func splitEntry(path string) (of, entry string, isEntry bool) {
	inner, closed := strings.CutSuffix(path, "']")
	of, entry, open := strings.Cut(inner, "['")
	if !closed || !open || of == "" {
		return path, "", false
	}
	return of, entry, true
}

// resourceFields are the requests and limits that a container can read.
var resourceFields = []string{
	"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage",
	"requests.memory",
}

func validateResourceRef(ref *corev1.ResourceFieldSelector, inFile bool, path *field.Path) (errs rule.Errors) {
	huge := strings.HasPrefix(ref.Resource, "requests.hugepages-") ||
		strings.HasPrefix(ref.Resource, "limits.hugepages-")
	switch {
	case inFile && ref.ContainerName == "":
		errs = append(errs, field.Required(path.Child("containerName"), ""))
	case ref.Resource == "":
		errs = append(errs, field.Required(path.Child("resource"), ""))
	case !huge:
		errs = append(errs, rule.OneOf(path.Child("resource"), ref.Resource, resourceFields...)...)
	}
	return append(errs, validateDivisor(ref, huge, path.Child("divisor"))...)
}

// byteDivisors are what an amount of bytes can be divided by.
var byteDivisors = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}

func validateDivisor(ref *corev1.ResourceFieldSelector, huge bool, path *field.Path) rule.Errors {
	if ref.Divisor.Cmp(resource.Quantity{}) == 0 {
		return nil
	}
	divisors, name := byteDivisors, ""
	switch _, of, _ := strings.Cut(ref.Resource, "."); {
	case huge:
		name = "hugepages"
	case !slices.Contains(resourceFields, ref.Resource):
		return nil
	case of == "cpu":
		divisors, name = []string{"1m", "1"}, "cpu"
	case of == "memory":
		name = "memory"
	case of == "ephemeral-storage":
		name = "local ephemeral storage"
	}
	listed := strings.Join(divisors, ", ")
	if name == "cpu" {
		listed = strings.Join(divisors, " and ")
	}
	return rule.When(!slices.Contains(divisors, ref.Divisor.String()), field.Invalid(path, ref.Resource,
		"only divisor's values "+listed+" are supported with the "+name+" resource"))
}

func validateKeyRef(name, key string, path *field.Path) rule.Errors {
	errs := rule.Subdomain(path.Child("name"), name)
	if key == "" {
		return append(errs, field.Required(path.Child("key"), ""))
	}
	return append(errs, rule.Texts(path.Child("key"), key, validation.IsConfigMapKey(key))...)
}

func validateFileKeyRef(ref *corev1.FileKeySelector, path *field.Path) rule.Errors {
	errs := rule.Required(path.Child("key"), ref.Key)
	if ref.Key != "" {
		errs = rule.Texts(path.Child("key"), ref.Key, validation.IsRelaxedEnvVarName(ref.Key))
	}
	if ref.VolumeName == "" {
		errs = append(errs, field.Required(path.Child("volumeName"), ""))
	} else {
		errs = append(errs, rule.Label(path.Child("volumeName"), ref.VolumeName)...)
	}
	if ref.Path == "" {
		return append(errs, field.Required(path.Child("path"), ""))
	}
	return append(errs, noBacksteps(path.Child("path"), ref.Path)...)
}

// validateFileKeys wants the volumes of files with variables to be there.
func (s *spec) validateFileKeys() (errs rule.Errors) {
	s.visit(func(c *corev1.Container, path *field.Path) {
		for i, v := range c.Env {
			if v.ValueFrom == nil || v.ValueFrom.FileKeyRef == nil {
				continue
			}
			name := v.ValueFrom.FileKeyRef.VolumeName
			at := path.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName")
			index := slices.IndexFunc(s.Volumes, func(v corev1.Volume) bool { return v.Name == name })
			switch {
			case index < 0:
				errs = append(errs, field.NotFound(at, name))
			case s.Volumes[index].EmptyDir == nil:
				errs = append(errs, field.Invalid(at, name, "referenced volume must be of type emptyDir"))
			}
		}
	})
	return errs
}

func validateEnvFrom(sources []corev1.EnvFromSource, path *field.Path) (errs rule.Errors) {
	for i := range sources {
		source, at := &sources[i], path.Index(i)
		if source.Prefix != "" {
			errs = append(errs, rule.Texts(at.Child("prefix"), source.Prefix,
				validation.IsRelaxedEnvVarName(source.Prefix))...)
		}
		if ref := source.ConfigMapRef; ref != nil {
			errs = append(errs, requiredSubdomain(at.Child("configMapRef", "name"), ref.Name)...)
		}
		if ref := source.SecretRef; ref != nil {
			errs = append(errs, requiredSubdomain(at.Child("secretRef", "name"), ref.Name)...)
		}
		switch {
		case source.ConfigMapRef == nil && source.SecretRef == nil:
			errs = append(errs, field.Invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
		case source.ConfigMapRef != nil && source.SecretRef != nil:
			errs = append(errs, field.Invalid(path, "", "may not have more than one field specified at a time"))
		}
	}
	return errs
}

func requiredSubdomain(path *field.Path, name string) rule.Errors {
	if name == "" {
		return rule.Errors{field.Required(path, "")}
	}
	return rule.Subdomain(path, name)
}

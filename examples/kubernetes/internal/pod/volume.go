package pod

import (
	"fmt"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/claim"
	"example.com/kubernetes/internal/rule"
)

// validateVolumes validates the volumes, and remembers those that are valid.
func (s *spec) validateVolumes() (errs rule.Errors) {
	s.volumes = map[string]*corev1.VolumeSource{}
	var made []string // the claims that the server's controller makes for ephemeral volumes
	for _, volume := range s.Volumes {
		if volume.Ephemeral != nil && s.meta != nil && s.meta.Name != "" {
			made = append(made, s.meta.Name+"-"+volume.Name)
		}
	}
	for i := range s.Volumes {
		volume, at := &s.Volumes[i], s.path.Child("volumes").Index(i)
		of := s.validateSource(volume, at)
		if name := at.Child("name"); volume.Name == "" {
			of = append(of, field.Required(name, ""))
		} else {
			of = append(of, rule.Label(name, volume.Name)...)
		}
		of = append(of, rule.When(s.volumes[volume.Name] != nil, field.Duplicate(at.Child("name"), volume.Name))...)
		if len(of) == 0 {
			s.volumes[volume.Name] = &volume.VolumeSource
		}
		errs = append(errs, of...)
		if c := volume.PersistentVolumeClaim; c != nil && slices.Contains(made, c.ClaimName) {
			errs = append(errs, field.Invalid(at.Child("persistentVolumeClaim", "claimName"), c.ClaimName,
				"must not reference a PVC that gets created for an ephemeral volume"))
		}
	}
	return errs
}

// source is one of the places where a volume can come from. check is called if it is the only one.
type source struct {
	name  string
	set   bool
	check func(path *field.Path) rule.Errors
}

func (s *spec) validateSource(volume *corev1.Volume, at *field.Path) (errs rule.Errors) {
	const twice = "may not specify more than 1 volume type"
	sources := 0
	for _, of := range slices.Concat(s.commonSources(volume), deprecatedSources(volume), s.laterSources(volume, at)) {
		switch {
		case !of.set:
			continue
		case sources > 0:
			errs = append(errs, field.Forbidden(at.Child(of.name), twice))
		default:
			errs = append(errs, of.check(at.Child(of.name))...)
		}
		sources++
	}
	return append(errs, rule.When(sources == 0, field.Required(at, "must specify a volume type"))...)
}

func (s *spec) commonSources(v *corev1.Volume) []source {
	return []source{
		{"emptyDir", v.EmptyDir != nil, func(path *field.Path) rule.Errors {
			limit := v.EmptyDir.SizeLimit
			return rule.When(limit != nil && limit.Sign() < 0, field.Forbidden(path.Child("sizeLimit"),
				"SizeLimit field must be a valid resource quantity"))
		}},
		{"hostPath", v.HostPath != nil, func(path *field.Path) rule.Errors {
			return ValidateHostPath(v.HostPath, path)
		}},
		{"secret", v.Secret != nil, func(path *field.Path) rule.Errors {
			return append(rule.Required(path.Child("secretName"), v.Secret.SecretName),
				validateFiles(v.Secret.DefaultMode, v.Secret.Items, path)...)
		}},
		{"nfs", v.NFS != nil, func(path *field.Path) rule.Errors { return ValidateNFS(v.NFS, path) }},
		{"persistentVolumeClaim", v.PersistentVolumeClaim != nil, func(path *field.Path) rule.Errors {
			return rule.Required(path.Child("claimName"), v.PersistentVolumeClaim.ClaimName)
		}},
		{"downwardAPI", v.DownwardAPI != nil, func(path *field.Path) rule.Errors {
			errs := validateMode(path.Child("defaultMode"), v.DownwardAPI.DefaultMode)
			for i := range v.DownwardAPI.Items {
				errs = append(errs, validateDownwardFile(&v.DownwardAPI.Items[i], path)...)
			}
			return errs
		}},
		{"configMap", v.ConfigMap != nil, func(path *field.Path) rule.Errors {
			return append(rule.Required(path.Child("name"), v.ConfigMap.Name),
				validateFiles(v.ConfigMap.DefaultMode, v.ConfigMap.Items, path)...)
		}},
	}
}

func (s *spec) laterSources(v *corev1.Volume, at *field.Path) []source {
	return []source{
		{"projected", v.Projected != nil, func(path *field.Path) rule.Errors {
			return validateProjected(v.Projected, path)
		}},
		{"csi", v.CSI != nil, func(path *field.Path) rule.Errors {
			errs := ValidateDriver(v.CSI.Driver, path.Child("driver"))
			if ref := v.CSI.NodePublishSecretRef; ref != nil && ref.Name == "" {
				return append(errs, field.Required(path.Child("nodePublishSecretRef", "name"), ""))
			} else if ref != nil {
				return append(errs, rule.Subdomain(path.Child("name"), ref.Name)...)
			}
			return errs
		}},
		{"ephemeral", v.Ephemeral != nil, func(path *field.Path) rule.Errors {
			template := path.Child("volumeClaimTemplate")
			if v.Ephemeral.VolumeClaimTemplate == nil {
				return rule.Errors{field.Required(template, "")}
			}
			errs := claim.ValidateTemplate(v.Ephemeral.VolumeClaimTemplate, template)
			if s.meta == nil || s.meta.Name == "" || v.Name == "" {
				return errs
			}
			name := s.meta.Name + "-" + v.Name
			for _, message := range validation.IsDNS1123Subdomain(name) {
				errs = append(errs, field.Invalid(path.Child("name"), v.Name, fmt.Sprintf("PVC name %q: %v", name,
					message)))
			}
			return errs
		}},
		{"image", v.Image != nil, func(path *field.Path) rule.Errors {
			return append(rule.Required(path.Child("reference"), v.Image.Reference),
				validatePullPolicy(v.Image.PullPolicy, path.Child("pullPolicy"))...)
		}},
	}
}

// ValidateHostPath validates a directory or a file of a node.
func ValidateHostPath(host *corev1.HostPathVolumeSource, path *field.Path) rule.Errors {
	return rule.All(
		rule.Required(path.Child("path"), host.Path),
		noBacksteps(path.Child("path"), host.Path),
		rule.OptionalOneOf(path.Child("type"), host.Type, corev1.HostPathUnset, corev1.HostPathBlockDev,
			corev1.HostPathCharDev, corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate, corev1.HostPathFile,
			corev1.HostPathFileOrCreate, corev1.HostPathSocket),
	)
}

// ValidateNFS validates a directory of a file server.
func ValidateNFS(nfs *corev1.NFSVolumeSource, at *field.Path) rule.Errors {
	return rule.All(
		rule.Required(at.Child("server"), nfs.Server),
		rule.Required(at.Child("path"), nfs.Path),
		rule.When(!path.IsAbs(nfs.Path), field.Invalid(at.Child("path"), nfs.Path, "must be an absolute path")),
	)
}

// longestDriver is how long the name of a CSI driver may be.
const longestDriver = 63

// ValidateDriver validates the name of a CSI driver.
func ValidateDriver(name string, path *field.Path) rule.Errors {
	if name == "" {
		return rule.Errors{field.Required(path, "")}
	}
	return append(rule.When(len(name) > longestDriver, field.TooLong(path, "", longestDriver)),
		rule.Texts(path, name, validation.IsDNS1123Subdomain(lower(name)))...)
}

func validateMode(path *field.Path, mode *int32) rule.Errors {
	return rule.When(mode != nil && (*mode < 0 || *mode > 0o777), field.Invalid(path, mode,
		"must be a number between 0 and 0777 (octal), both inclusive"))
}

func validateFiles(mode *int32, items []corev1.KeyToPath, path *field.Path) rule.Errors {
	return append(validateMode(path.Child("defaultMode"), mode), rule.Each(items, path.Child("items"), validateFile)...)
}

func validateFile(item *corev1.KeyToPath, path *field.Path) rule.Errors {
	return rule.All(
		rule.Required(path.Child("key"), item.Key),
		rule.Required(path.Child("path"), item.Path),
		localPath(path.Child("path"), item.Path),
		validateMode(path.Child("mode"), item.Mode),
	)
}

func validateDownwardFile(file *corev1.DownwardAPIVolumeFile, path *field.Path) rule.Errors {
	errs := append(rule.Required(path.Child("path"), file.Path), localPath(path.Child("path"), file.Path)...)
	switch {
	case file.FieldRef != nil:
		errs = append(errs, validateFieldRef(file.FieldRef, fileFields, path.Child("fieldRef"))...)
		errs = append(errs, rule.When(file.ResourceFieldRef != nil, field.Invalid(path, "resource",
			"fieldRef and resourceFieldRef can not be specified simultaneously"))...)
	case file.ResourceFieldRef != nil:
		errs = append(errs, validateResourceRef(file.ResourceFieldRef, true, path.Child("resourceFieldRef"))...)
	default:
		errs = append(errs, field.Required(path, "one of fieldRef and resourceFieldRef is required"))
	}
	return append(errs, validateMode(path.Child("mode"), file.Mode)...)
}

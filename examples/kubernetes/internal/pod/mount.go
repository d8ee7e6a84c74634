package pod

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

func (s *spec) validateMounts(c *corev1.Container, at *field.Path) (errs rule.Errors) {
	var points []string
	for i := range c.VolumeMounts {
		mount, item := &c.VolumeMounts[i], at.Index(i)
		name, point := item.Child("name"), item.Child("mountPath")
		errs = append(errs, rule.All(
			rule.Required(name, mount.Name),
			rule.When(s.volumes[mount.Name] == nil, field.NotFound(name, mount.Name)),
			rule.Required(point, mount.MountPath),
			rule.When(slices.Contains(points, mount.MountPath), field.Invalid(point, mount.MountPath,
				"must be unique")),
			rule.When(hasDevice(c, mount.Name, ""), field.Invalid(name, mount.Name,
				"must not already exist in volumeDevices")),
			rule.When(hasDevice(c, "", mount.MountPath), field.Invalid(point, mount.MountPath,
				"must not already exist as a path in volumeDevices")),
		)...)
		points = append(points, mount.MountPath)
		if mount.SubPath != "" {
			errs = append(errs, descendingPath(at.Child("subPath"), mount.SubPath)...)
		}
		if mount.SubPathExpr != "" {
			errs = append(errs, rule.When(mount.SubPath != "", field.Invalid(item.Child("subPathExpr"),
				mount.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))...)
			errs = append(errs, descendingPath(at.Child("subPathExpr"), mount.SubPathExpr)...)
		}
		errs = append(errs, validatePropagation(mount.MountPropagation, c, at.Child("mountPropagation"))...)
		errs = append(errs, validateRecursion(mount, at.Child("recursiveReadOnly"))...)
	}
	return errs
}

func validatePropagation(mode *corev1.MountPropagationMode, c *corev1.Container, at *field.Path) rule.Errors {
	if mode == nil {
		return nil
	}
	privileged := c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
	return append(rule.OneOf(at, *mode, corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer,
		corev1.MountPropagationNone),
		rule.When(*mode == corev1.MountPropagationBidirectional && !privileged, field.Forbidden(at,
			"Bidirectional mount propagation is available only to privileged containers"))...)
}

func validateRecursion(mount *corev1.VolumeMount, at *field.Path) rule.Errors {
	mode := mount.RecursiveReadOnly
	if mode == nil || *mode == corev1.RecursiveReadOnlyDisabled {
		return nil
	}
	if errs := rule.OneOf(at, *mode, corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled,
		corev1.RecursiveReadOnlyIfPossible); len(errs) > 0 {
		return errs
	}
	propagation := mount.MountPropagation
	return append(rule.When(!mount.ReadOnly, field.Forbidden(at, "may only be specified when readOnly is true")),
		rule.When(propagation != nil && *propagation != corev1.MountPropagationNone,
			field.Forbidden(at, "may only be specified when mountPropagation is None or not specified"))...)
}

func (s *spec) validateDevices(c *corev1.Container, at *field.Path) (errs rule.Errors) {
	var names, paths []string
	for i, device := range c.VolumeDevices {
		name, target := at.Index(i).Child("name"), at.Index(i).Child("devicePath")
		volume := s.volumes[device.Name]
		errs = append(errs, rule.All(
			rule.Required(name, device.Name),
			rule.When(slices.Contains(names, device.Name), field.Invalid(name, device.Name, "must be unique")),
			rule.When(volume != nil && volume.PersistentVolumeClaim == nil && volume.Ephemeral == nil,
				field.Invalid(name, device.Name, "can only use volume source type of PersistentVolumeClaim or "+
					"Ephemeral for block mode")),
			rule.When(volume == nil, field.NotFound(name, device.Name)),
			rule.Required(target, device.DevicePath),
			rule.When(slices.Contains(paths, device.DevicePath), field.Invalid(target, device.DevicePath,
				"must be unique")),
		)...)
		if len(noBacksteps(target, device.DevicePath)) > 0 {
			errs = append(errs, field.Invalid(target, device.DevicePath, "can not contain backsteps ('..')"))
		} else {
			paths = append(paths, device.DevicePath)
		}
		errs = append(errs, rule.When(hasMount(c, device.Name, ""), field.Invalid(name, device.Name,
			"must not already exist in volumeMounts"))...)
		errs = append(errs, rule.When(hasMount(c, "", device.DevicePath), field.Invalid(target, device.DevicePath,
			"must not already exist as a path in volumeMounts"))...)
		if device.Name != "" {
			names = append(names, device.Name)
		}
	}
	return errs
}

func hasDevice(c *corev1.Container, name, path string) bool {
	return slices.ContainsFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool {
		return name != "" && d.Name == name || path != "" && d.DevicePath == path
	})
}

func hasMount(c *corev1.Container, name, path string) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
		return name != "" && m.Name == name || path != "" && m.MountPath == path
	})
}

// descendingPath wants a relative path that doesn't lead upward.
func descendingPath(at *field.Path, value string) rule.Errors {
	return append(rule.When(path.IsAbs(value), field.Invalid(at, value, "must be a relative path")),
		noBacksteps(at, value)...)
}

func noBacksteps(at *field.Path, value string) rule.Errors {
	return rule.When(slices.Contains(strings.Split(value, "/"), ".."),
		field.Invalid(at, value, "must not contain '..'"))
}

// localPath is a path within a volume; what begins with two dots belongs to the kubelet.
func localPath(at *field.Path, value string) rule.Errors {
	reserved := strings.HasPrefix(value, "..") && !strings.HasPrefix(value, "../")
	return append(descendingPath(at, value),
		rule.When(reserved, field.Invalid(at, value, "must not start with '..'"))...)
}

package pod

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

func (s *spec) validateSecurity() rule.Errors {
	security, path := s.SecurityContext, s.path.Child("securityContext")
	if security == nil {
		return nil
	}
	errs := group(path.Child("fsGroup"), security.FSGroup)
	errs = append(errs, user(path.Child("runAsUser"), security.RunAsUser)...)
	errs = append(errs, group(path.Child("runAsGroup"), security.RunAsGroup)...)
	errs = append(errs, rule.Each(security.SupplementalGroups, path.Child("supplementalGroups"),
		func(id *int64, path *field.Path) rule.Errors { return group(path, id) })...)
	return rule.All(
		errs,
		rule.When(s.ShareProcessNamespace != nil && *s.ShareProcessNamespace && s.HostPID,
			field.Invalid(s.path.Child("shareProcessNamespace"), true,
				"ShareProcessNamespace and HostPID cannot both be enabled")),
		s.validateSysctls(path.Child("sysctls")),
		rule.OptionalOneOf(path.Child("fsGroupChangePolicy"), security.FSGroupChangePolicy,
			corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch),
		validateSeccomp(security.SeccompProfile, path.Child("seccompProfile")),
		validateWindowsOptions(security.WindowsOptions, path.Child("windowsOptions")),
		validateAppArmor(security.AppArmorProfile, path.Child("appArmorProfile")),
		rule.OptionalOneOf(path.Child("supplementalGroupsPolicy"), security.SupplementalGroupsPolicy,
			corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict),
		rule.OptionalOneOf(path.Child("seLinuxChangePolicy"), security.SELinuxChangePolicy,
			corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive),
	)
}

func group(path *field.Path, id *int64) rule.Errors {
	if id == nil {
		return nil
	}
	return rule.Texts(path, *id, validation.IsValidGroupID(*id))
}

func user(path *field.Path, id *int64) rule.Errors {
	if id == nil {
		return nil
	}
	return rule.Texts(path, *id, validation.IsValidUserID(*id))
}

// sysctlName is the form of the names of kernel parameters, and maxSysctl how long they may be.
var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

const maxSysctl = 253

// The kernel parameters that belong to the namespaces of a pod.
var (
	sysctlsOfIPC = []string{"kernel.sem", "kernel.shm", "kernel.msg", "fs.mqueue."}
	sysctlsOfNet = []string{"net."}
)

func (s *spec) validateSysctls(path *field.Path) rule.Errors {
	var names []string
	return rule.Each(s.SecurityContext.Sysctls, path, func(sysctl *corev1.Sysctl, path *field.Path) (errs rule.Errors) {
		at := path.Child("name")
		switch {
		case sysctl.Name == "":
			errs = append(errs, field.Required(at, ""))
		case len(sysctl.Name) > maxSysctl || !sysctlName.MatchString(sysctl.Name):
			errs = append(errs, field.Invalid(at, sysctl.Name, fmt.Sprintf(
				"must have at most %d characters and match regex %s", maxSysctl, sysctlName)))
		case slices.Contains(names, sysctl.Name):
			errs = append(errs, field.Duplicate(at, sysctl.Name))
		}
		names = append(names, sysctl.Name)
		of := func(prefixes []string) bool {
			name := strings.ReplaceAll(sysctl.Name, "/", ".")
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
		}
		switch {
		case s.HostNetwork && of(sysctlsOfNet):
			errs = append(errs, field.Invalid(at, sysctl.Name, "may not be specified when 'hostNetwork' is true"))
		case s.HostIPC && of(sysctlsOfIPC):
			errs = append(errs, field.Invalid(at, sysctl.Name, "may not be specified when 'hostIPC' is true"))
		}
		return errs
	})
}

func validateSeccomp(profile *corev1.SeccompProfile, path *field.Path) (errs rule.Errors) {
	if profile == nil {
		return nil
	}
	if profile.Type == "" {
		errs = append(errs, field.Required(path.Child("type"), "type is required when seccompProfile is set"))
	} else {
		errs = append(errs, rule.OneOf(path.Child("type"), profile.Type, corev1.SeccompProfileTypeLocalhost,
			corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)...)
	}
	local, at := profile.LocalhostProfile, path.Child("localhostProfile")
	switch {
	case profile.Type != corev1.SeccompProfileTypeLocalhost:
		return append(errs, rule.When(local != nil, field.Invalid(at, profile,
			"can only be set when seccomp type is Localhost"))...)
	case local == nil:
		return append(errs, field.Required(at, "must be set when seccomp type is Localhost"))
	}
	return append(errs, descendingPath(at, *local)...)
}

func validateAppArmor(profile *corev1.AppArmorProfile, path *field.Path) rule.Errors {
	if profile == nil {
		return nil
	}
	if profile.Type == "" {
		return rule.Errors{field.Required(path.Child("type"), "type is required when appArmorProfile is set")}
	}
	if errs := rule.OneOf(path.Child("type"), profile.Type, corev1.AppArmorProfileTypeLocalhost,
		corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined); len(errs) > 0 {
		return errs
	}
	local, at := profile.LocalhostProfile, path.Child("localhostProfile")
	const longest = 4095 // the longest path of Linux
	const missing = "must be set when AppArmor type is Localhost"
	switch {
	case profile.Type != corev1.AppArmorProfileTypeLocalhost:
		return rule.When(local != nil, field.Invalid(at, local, "can only be set when AppArmor type is Localhost"))
	case local == nil:
		return rule.Errors{field.Required(at, missing)}
	}
	return rule.All(
		rule.When(strings.TrimSpace(*local) != *local, field.Invalid(at, *local, "must not be padded with whitespace")),
		rule.When(*local == "", field.Required(at, missing)),
		rule.When(len(*local) > longest, field.TooLong(at, "", longest)),
	)
}

func validateContainerSecurity(security *corev1.SecurityContext, path *field.Path, hostUsers *bool) rule.Errors {
	if security == nil {
		return nil
	}
	errs := append(user(path.Child("runAsUser"), security.RunAsUser),
		group(path.Child("runAsGroup"), security.RunAsGroup)...)
	if mount, at := security.ProcMount, path.Child("procMount"); mount != nil {
		errs = append(errs, rule.OneOf(at, *mount, corev1.DefaultProcMount, corev1.UnmaskedProcMount)...)
		errs = append(errs, rule.When(*mount == corev1.UnmaskedProcMount && (hostUsers == nil || *hostUsers),
			field.Invalid(at, mount, "`hostUsers` must be false to use `Unmasked`"))...)
	}
	errs = append(errs, validateSeccomp(security.SeccompProfile, path.Child("seccompProfile"))...)
	errs = append(errs, validateEscalation(security, path)...)
	errs = append(errs, validateWindowsOptions(security.WindowsOptions, path.Child("windowsOptions"))...)
	return append(errs, validateAppArmor(security.AppArmorProfile, path.Child("appArmorProfile"))...)
}

// validateEscalation refuses privileges where they may not be escalated.
func validateEscalation(security *corev1.SecurityContext, path *field.Path) (errs rule.Errors) {
	if security.AllowPrivilegeEscalation == nil || *security.AllowPrivilegeEscalation {
		return nil
	}
	errs = rule.When(security.Privileged != nil && *security.Privileged, field.Invalid(path, security,
		"cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
	if security.Capabilities == nil {
		return errs
	}
	return append(errs, rule.When(slices.Contains(security.Capabilities.Add, "CAP_SYS_ADMIN"), field.Invalid(path,
		security, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))...)
}

package pod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// set is a field with its path, and whether it is set.
type set struct {
	name string
	set  bool
}

// validateWindows refuses what a pod on Windows can't have.
func (s *spec) validateWindows() (errs rule.Errors) {
	forbid := func(path *field.Path, fields []set) {
		for _, f := range fields {
			errs = append(errs, rule.When(f.set, field.Forbidden(path.Child(f.name),
				"cannot be set for a windows pod"))...)
		}
	}
	if c := s.SecurityContext; c != nil {
		at := s.path.Child("securityContext")
		forbid(at, []set{{"appArmorProfile", c.AppArmorProfile != nil}, {"seLinuxOptions", c.SELinuxOptions != nil}})
		forbid(s.path, []set{{"hostUsers", s.HostUsers != nil}, {"hostPID", s.HostPID}, {"hostIPC", s.HostIPC}})
		forbid(at, []set{{"seccompProfile", c.SeccompProfile != nil}, {"fsGroup", c.FSGroup != nil},
			{"fsGroupChangePolicy", c.FSGroupChangePolicy != nil}, {"sysctls", len(c.Sysctls) > 0}})
		forbid(s.path, []set{{"shareProcessNamespace", s.ShareProcessNamespace != nil}})
		forbid(at, []set{{"runAsUser", c.RunAsUser != nil}, {"runAsGroup", c.RunAsGroup != nil},
			{"supplementalGroups", c.SupplementalGroups != nil},
			{"supplementalGroupsPolicy", c.SupplementalGroupsPolicy != nil},
			{"seLinuxChangePolicy", c.SELinuxChangePolicy != nil}})
	}
	s.visit(func(container *corev1.Container, path *field.Path) {
		if c := container.SecurityContext; c != nil {
			forbid(path.Child("securityContext"), []set{{"appArmorProfile", c.AppArmorProfile != nil},
				{"seLinuxOptions", c.SELinuxOptions != nil}, {"seccompProfile", c.SeccompProfile != nil},
				{"capabilities", c.Capabilities != nil}, {"readOnlyRootFilesystem", c.ReadOnlyRootFilesystem != nil},
				{"privileged", c.Privileged != nil},
				{"allowPrivilegeEscalation", c.AllowPrivilegeEscalation != nil},
				{"procMount", c.ProcMount != nil}, {"runAsUser", c.RunAsUser != nil},
				{"runAsGroup", c.RunAsGroup != nil}})
		}
	})
	return errs
}

// validateWindowsOptions validates who containers on Windows run as.
func validateWindowsOptions(options *corev1.WindowsSecurityContextOptions, path *field.Path) (errs rule.Errors) {
	if options == nil {
		return nil
	}
	if name := options.GMSACredentialSpecName; name != nil {
		errs = append(errs, rule.Texts(path.Child("gmsaCredentialSpecName"), *name,
			validation.IsDNS1123Subdomain(*name))...)
	}
	const longest = 64 << 10
	if text, at := options.GMSACredentialSpec, path.Child("gmsaCredentialSpec"); text != nil {
		errs = append(errs, rule.When(*text == "", field.Invalid(at, text,
			"gmsaCredentialSpec cannot be an empty string"))...)
		errs = append(errs, rule.When(len(*text) > longest, field.Invalid(at, text,
			"gmsaCredentialSpec size must be under 64 KiB"))...)
	}
	if name, at := options.RunAsUserName, path.Child("runAsUserName"); name != nil {
		errs = append(errs, rule.When(*name == "", field.Invalid(at, name,
			"runAsUserName cannot be an empty string"))...)
	}
	return errs
}

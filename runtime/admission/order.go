package admission

import (
	"fmt"
	"slices"
	"strings"
)

// builtin are the plug-ins of kube-apiserver 1.36 in its order, so far as they come before policies and webhooks. The
// author's own follow them.
var builtin = []string{
	"NamespaceAutoProvision", "NamespaceLifecycle", "NamespaceExists", "LimitPodHardAntiAffinityTopology",
	"LimitRanger", "ServiceAccount", "NodeRestriction", "TaintNodesByCondition", "AlwaysPullImages",
	"ImagePolicyWebhook", "PodSecurity", "PodNodeSelector", "Priority", "DefaultTolerationSeconds",
	"PodTolerationRestriction", "EventRateLimit", "ExtendedResourceToleration", "DefaultStorageClass",
	"StorageObjectInUseProtection", "OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize",
	"RuntimeClass", "CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest",
	"CertificateSubjectRestriction", "DefaultIngressClass", "DenyServiceExternalIPs", "PodTopologyLabels",
	"NodeDeclaredFeatureValidator",
}

// last are the plug-ins that follow all others: policies, then webhooks, then quota, which must count nothing that
// another one refuses.
var last = []string{
	"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
	"ResourceQuota", "AlwaysDeny",
}

// place is where a plug-in stands. Plug-ins of the author share one place.
func place(name string) int {
	if i := slices.Index(builtin, name); i >= 0 {
		return i
	}
	if i := slices.Index(last, name); i >= 0 {
		return len(builtin) + 1 + i
	}
	return len(builtin)
}

// Arrange returns the plug-ins that run, in kube-apiserver's order, with the author's own after those that
// kube-apiserver has and before policies and webhooks, in the order in which plugins has them. enable and disable are
// the values of kube-apiserver's flags of that name. A name that no plug-in has is an error, and so are two plug-ins of
// one name.
func Arrange(plugins []Plugin, enable, disable []string) ([]Plugin, error) {
	known := map[string]bool{}
	for _, p := range plugins {
		if known[p.Name] {
			return nil, fmt.Errorf("two admission plug-ins are named %q", p.Name)
		}
		known[p.Name] = true
	}
	for _, list := range []struct {
		flag  string
		names []string
	}{{"--enable-admission-plugins", enable}, {"--disable-admission-plugins", disable}} {
		for _, name := range list.names {
			if !known[name] {
				return nil, fmt.Errorf("%s: this server has no admission plug-in %q: it has %s", list.flag, name,
					strings.Join(names(plugins), ", "))
			}
		}
	}
	for _, name := range enable {
		if slices.Contains(disable, name) {
			return nil, fmt.Errorf("the admission plug-in %q is in --enable-admission-plugins and in "+
				"--disable-admission-plugins", name)
		}
	}
	var run []Plugin
	for _, p := range sorted(plugins) {
		if slices.Contains(enable, p.Name) || !p.Off && !slices.Contains(disable, p.Name) {
			run = append(run, p)
		}
	}
	return run, nil
}

func sorted(plugins []Plugin) []Plugin {
	byPlace := func(a, b Plugin) int { return place(a.Name) - place(b.Name) }
	return slices.SortedStableFunc(slices.Values(plugins), byPlace)
}

func names(plugins []Plugin) (all []string) {
	for _, p := range sorted(plugins) {
		all = append(all, p.Name)
	}
	return all
}

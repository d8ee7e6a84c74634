package pod

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// The names of resources that need no domain: those of containers, and all.
var (
	ofContainers = []corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	}
	counted = []corev1.ResourceName{
		corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers,
		corev1.ResourceSecrets, corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims,
		corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
	}
	standard = slices.Concat(ofContainers, counted, []corev1.ResourceName{
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
		corev1.ResourceStorage, corev1.ResourceRequestsStorage,
	})
	// forPods are those that a pod can have beside its containers.
	forPods = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
)

func isHuge(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func isNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

func isExtended(name corev1.ResourceName) bool {
	return !isNative(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// mayOvercommit reports whether requests of a resource may be less than its limits.
func mayOvercommit(name corev1.ResourceName) bool { return isNative(name) && !isHuge(name) }

// ValidateResourceName validates the name of any resource.
func ValidateResourceName(path *field.Path, name corev1.ResourceName) rule.Errors {
	errs := rule.Texts(path, name, validation.IsQualifiedName(string(name)))
	huge := isHuge(name) || strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
	if len(errs) == 0 && !strings.Contains(string(name), "/") && !slices.Contains(standard, name) && !huge {
		errs = append(errs, field.Invalid(path, name, "must be a standard resource type or fully qualified"))
	}
	return errs
}

// ValidateContainerResourceName validates the name of a resource of a container.
func ValidateContainerResourceName(path *field.Path, name corev1.ResourceName) rule.Errors {
	errs := ValidateResourceName(path, name)
	switch {
	case !strings.Contains(string(name), "/"):
		return append(errs, rule.When(!slices.Contains(ofContainers, name) && !isHuge(name),
			field.Invalid(path, name, "must be a standard resource for containers"))...)
	case !isNative(name):
		return append(errs, rule.When(!isExtended(name),
			field.Invalid(path, name, "doesn't follow extended resource name standard"))...)
	}
	return errs
}

// ValidateQuantity validates how much of a resource there is.
func ValidateQuantity(path *field.Path, name corev1.ResourceName, quantity resource.Quantity) rule.Errors {
	whole := slices.Contains(counted, name) || isExtended(name)
	return append(rule.NotNegativeQuantity(path, quantity),
		rule.When(whole && quantity.MilliValue()%1000 != 0, field.Invalid(path, quantity, "must be an integer"))...)
}

func validateHuge(path *field.Path, name corev1.ResourceName, quantity resource.Quantity) rule.Errors {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	if !isHuge(name) {
		return nil
	}
	ok := err == nil && size.Sign() > 0 && size.MilliValue()%1000 == 0 && quantity.Value()%size.Value() == 0
	return rule.When(!ok, field.Invalid(path, quantity.String(),
		fmt.Sprintf("%s is not positive integer multiple of %s", quantity.String(), name)))
}

func validateRequirements(r *corev1.ResourceRequirements, claims []string, path *field.Path) rule.Errors {
	return validateAmounts(r, claims, path, ValidateContainerResourceName)
}

func validateAmounts(
	r *corev1.ResourceRequirements, claims []string, path *field.Path,
	name func(*field.Path, corev1.ResourceName) rule.Errors,
) (errs rule.Errors) {
	limits, requests := path.Child("limits"), path.Child("requests")
	one := func(path *field.Path, of corev1.ResourceName, quantity resource.Quantity) rule.Errors {
		return rule.All(name(path, of), ValidateQuantity(path, of, quantity))
	}
	for _, of := range slices.Sorted(maps.Keys(r.Limits)) {
		at, quantity := limits.Key(string(of)), r.Limits[of]
		errs = append(errs, one(at, of, quantity)...)
		errs = append(errs, validateHuge(at, of, quantity)...)
	}
	for _, of := range slices.Sorted(maps.Keys(r.Requests)) {
		at, quantity := requests.Key(string(of)), r.Requests[of]
		errs = append(errs, one(at, of, quantity)...)
		limit, limited := r.Limits[of]
		switch {
		case limited && !mayOvercommit(of) && quantity.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(requests, quantity.String(),
				fmt.Sprintf("must be equal to %s limit of %s", of, limit.String())))
		case limited && quantity.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(requests, quantity.String(),
				fmt.Sprintf("must be less than or equal to %s limit of %s", of, limit.String())))
		case !limited && !mayOvercommit(of):
			errs = append(errs, field.Required(limits, "Limit must be set for non overcommitable resources"))
		}
		errs = append(errs, validateHuge(at, of, quantity)...)
	}
	if !has(r, func(of corev1.ResourceName) bool { return slices.Contains(forPods, of) }) && has(r, isHuge) {
		errs = append(errs, field.Forbidden(path, "HugePages require cpu or memory"))
	}
	return append(errs, validateClaimNames(r.Claims, claims, path.Child("claims"))...)
}

func has(r *corev1.ResourceRequirements, which func(corev1.ResourceName) bool) bool {
	for _, list := range []corev1.ResourceList{r.Limits, r.Requests} {
		for of := range list {
			if which(of) {
				return true
			}
		}
	}
	return false
}

func validateClaimNames(claims []corev1.ResourceClaim, known []string, path *field.Path) rule.Errors {
	var seen []string
	return rule.Each(claims, path, func(claim *corev1.ResourceClaim, path *field.Path) (errs rule.Errors) {
		if claim.Name == "" {
			return rule.Errors{field.Required(path, "")}
		}
		key := claim.Name
		if claim.Request != "" {
			errs = append(errs, rule.Label(path.Child("request"), claim.Request)...)
			key += "/" + claim.Request
		}
		twice := func(other string) bool {
			name, _, isRequest := strings.Cut(other, "/")
			return other == key || other == claim.Name || claim.Request == "" && isRequest && name == claim.Name
		}
		if slices.ContainsFunc(seen, twice) {
			errs = append(errs, field.Duplicate(path, key))
		}
		seen = append(seen, key)
		if !slices.Contains(known, claim.Name) {
			missing := field.NotFound(path, claim.Name)
			missing.Detail = "must be one of the names in pod.spec.resourceClaims which is empty"
			if len(known) > 0 {
				sorted := slices.Sorted(slices.Values(known))
				missing.Detail = "must be one of the names in pod.spec.resourceClaims: " + strings.Join(sorted, ", ")
			}
			errs = append(errs, missing)
		}
		return errs
	})
}

func (s *spec) validateResourceClaims() rule.Errors {
	var names []string
	return rule.Each(s.ResourceClaims, s.path.Child("resourceClaims"),
		func(claim *corev1.PodResourceClaim, path *field.Path) (errs rule.Errors) {
			if s.meta != nil && s.meta.Annotations[corev1.MirrorPodAnnotationKey] != "" {
				return rule.Errors{field.Forbidden(field.NewPath(""), "static pods do not support resource claims")}
			}
			name := path.Child("name")
			switch {
			case claim.Name == "":
				errs = append(errs, field.Required(name, ""))
			case slices.Contains(names, claim.Name):
				errs = append(errs, field.Duplicate(name, claim.Name))
			default:
				errs = append(errs, rule.Label(name, claim.Name)...)
				names = append(names, claim.Name)
			}
			return append(errs, validateClaimSource(claim, path)...)
		})
}

func validateClaimSource(claim *corev1.PodResourceClaim, path *field.Path) (errs rule.Errors) {
	of, template := claim.ResourceClaimName, claim.ResourceClaimTemplateName
	switch {
	case of != nil && template != nil:
		errs = append(errs, field.Invalid(path, claim,
			"at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"))
	case of == nil && template == nil:
		errs = append(errs, field.Invalid(path, claim,
			"must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
	}
	if of != nil {
		errs = append(errs, rule.Subdomain(path.Child("resourceClaimName"), *of)...)
	}
	if template != nil {
		errs = append(errs, rule.Subdomain(path.Child("resourceClaimTemplateName"), *template)...)
	}
	return errs
}

// validatePodResources validates the resources that the containers of a pod share.
func (s *spec) validatePodResources() rule.Errors {
	if s.Resources == nil {
		return nil
	}
	path := s.path.Child("resources")
	if s.OS != nil && s.OS.Name == corev1.Windows {
		return rule.Errors{field.Forbidden(path, "may not be set for a windows pod")}
	}
	errs := rule.When(s.Resources.Claims != nil, field.Forbidden(path.Child("claims"),
		"claims may not be set for Resources at pod-level"))
	return append(errs, validateAmounts(s.Resources, s.claims, path,
		func(path *field.Path, name corev1.ResourceName) rule.Errors {
			errs := ValidateResourceName(path, name)
			if len(errs) > 0 {
				return errs
			}
			supported := append(slices.Clone(forPods), "hugepages-*")
			return rule.When(!slices.Contains(forPods, name) && !isHuge(name),
				field.NotSupported(path, name, supported))
		})...)
}

package v1

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The names of resources that need no domain, by where they may stand.
var (
	counted = []corev1.ResourceName{
		corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers,
		corev1.ResourceSecrets, corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims,
		corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
	}
	ofContainers = []corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	}
	ofQuotas = slices.Concat(counted, ofContainers, []corev1.ResourceName{
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsStorage,
		corev1.ResourceRequestsEphemeralStorage, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
		corev1.ResourceLimitsEphemeralStorage,
	})
	standard = append(slices.Clone(ofQuotas), corev1.ResourceStorage)
)

func isHugePage(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func isQuotaHugePage(name corev1.ResourceName) bool {
	return isHugePage(name) || strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

func isForQuotas(name corev1.ResourceName) bool {
	return slices.Contains(ofQuotas, name) || isQuotaHugePage(name)
}

// isNative reports whether a resource is one of Kubernetes' own.
func isNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// isExtended reports whether a resource is one of somebody else.
func isExtended(name corev1.ResourceName) bool {
	return !isNative(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

func hasDomain[S ~string](name S) bool { return strings.Contains(string(name), "/") }

func validateResourceName(name corev1.ResourceName, path *field.Path) (errs field.ErrorList) {
	for _, message := range validation.IsQualifiedName(string(name)) {
		errs = append(errs, field.Invalid(path, name, message))
	}
	if len(errs) == 0 && !hasDomain(name) && !slices.Contains(standard, name) && !isQuotaHugePage(name) {
		errs = append(errs, field.Invalid(path, name, "must be a standard resource type or fully qualified"))
	}
	return errs
}

// validateAmounts validates the resources of a quota, in the order of their names.
func validateAmounts(amounts corev1.ResourceList, path *field.Path) (errs field.ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		at := path.Key(string(name))
		errs = append(errs, validateResourceName(name, at)...)
		if !hasDomain(name) && !isForQuotas(name) {
			errs = append(errs, field.Invalid(at, name, "must be a standard resource for quota"))
		}
		errs = append(errs, validateAmount(name, amounts[name], at)...)
	}
	return errs
}

func validateAmount(name corev1.ResourceName, amount resource.Quantity, path *field.Path) (errs field.ErrorList) {
	if amount.Cmp(resource.Quantity{}) < 0 {
		errs = append(errs, field.Invalid(path, amount.String(), apivalidation.IsNegativeErrorMsg))
	}
	if (slices.Contains(counted, name) || isExtended(name)) && amount.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(path, amount, "must be an integer"))
	}
	return errs
}

// SetDefaults_ResourceList rounds amounts up to thousandths.
func SetDefaults_ResourceList(amounts *corev1.ResourceList) {
	for name, amount := range *amounts {
		amount.RoundUp(resource.Milli)
		(*amounts)[name] = amount
	}
}

package v1

import (
	"context"
	"net/netip"

	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// PrepareForCreate_ServiceCIDR leaves the status to the controller.
func PrepareForCreate_ServiceCIDR(_ context.Context, in *networkingv1.ServiceCIDR) {
	in.Status = networkingv1.ServiceCIDRStatus{}
}

// ValidateObject_ServiceCIDR returns the errors of new ranges.
func ValidateObject_ServiceCIDR(_ context.Context, in *networkingv1.ServiceCIDR) field.ErrorList {
	if in.ResourceVersion != "" {
		return nil
	}
	return validateRanges(in)
}

func validateRanges(in *networkingv1.ServiceCIDR) rule.Errors {
	path, ranges := field.NewPath("spec", "cidrs"), in.Spec.CIDRs
	errs := rule.When(len(ranges) == 0, field.Required(path, "at least one CIDR required"))
	errs = append(errs, rule.When(len(ranges) > 2, field.Invalid(path, in.Spec, "may only hold up to 2 values"))...)
	errs = append(errs, rule.Each(ranges, path, func(cidr *string, path *field.Path) rule.Errors {
		return validation.IsValidCIDR(path, *cidr)
	})...)
	if len(ranges) != 2 {
		return errs
	}
	a, err := netip.ParsePrefix(ranges[0])
	b, err2 := netip.ParsePrefix(ranges[1])
	return append(errs, rule.When(err == nil && err2 == nil && a.Addr().Is4() == b.Addr().Is4(), field.Invalid(path,
		ranges, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"))...)
}

// ValidateUpdate_ServiceCIDR lets a range get one of the other family, and nothing else change.
func ValidateUpdate_ServiceCIDR(_ context.Context, in, old *networkingv1.ServiceCIDR) field.ErrorList {
	path, is, was := field.NewPath("spec", "cidrs"), in.Spec.CIDRs, old.Spec.CIDRs
	if len(is) != len(was) && (len(was) != 1 || len(is) != 2) {
		return rule.Errors{field.Invalid(path, is, apivalidation.FieldImmutableErrorMsg)}
	}
	var errs rule.Errors
	for i, cidr := range was {
		errs = append(errs, rule.When(is[i] != cidr, field.Invalid(path.Index(i), is[i],
			apivalidation.FieldImmutableErrorMsg))...)
	}
	if len(is) == len(was) {
		return errs
	}
	return append(errs, validateRanges(in)...)
}

// ValidateObject_IPAddress returns the errors of an address.
func ValidateObject_IPAddress(_ context.Context, in *networkingv1.IPAddress) (errs field.ErrorList) {
	ref, path := in.Spec.ParentRef, field.NewPath("spec", "parentRef")
	if in.ResourceVersion != "" || ref == nil { // the type's own markers report that there is none
		return nil
	}
	if ref.Group != "" {
		errs = rule.Subdomain(path.Child("group"), ref.Group)
	}
	return rule.All(errs, segment(path.Child("resource"), ref.Resource), segment(path.Child("name"), ref.Name),
		segment(path.Child("namespace"), ref.Namespace))
}

// Package rule has the checks that the validation of many kinds is made of. Each returns one error for each fault, in
// the words of kube-apiserver.
package rule

import (
	"fmt"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Errors are the faults of an object, in the order in which they are reported.
type Errors = field.ErrorList

// All joins the errors of several checks.
func All(lists ...Errors) Errors { return slices.Concat(lists...) }

// When returns an error if a condition holds.
func When(wrong bool, err *field.Error) Errors {
	if wrong {
		return Errors{err}
	}
	return nil
}

// Each checks the items of a list.
func Each[T any](items []T, path *field.Path, check func(*T, *field.Path) Errors) (errs Errors) {
	for i := range items {
		errs = append(errs, check(&items[i], path.Index(i))...)
	}
	return errs
}

// Texts makes an error of each message about a value.
func Texts(path *field.Path, value any, messages []string) (errs Errors) {
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// Required wants a text.
func Required[T ~string](path *field.Path, value T) Errors {
	return When(value == "", field.Required(path, ""))
}

// OneOf wants one of the supported values.
func OneOf[T ~string](path *field.Path, value T, supported ...T) Errors {
	return When(!slices.Contains(supported, value), field.NotSupported(path, value, supported))
}

// RequiredOneOf wants a text, which must be one of the supported values.
func RequiredOneOf[T ~string](path *field.Path, value T, supported ...T) Errors {
	if value == "" {
		return Errors{field.Required(path, "")}
	}
	return OneOf(path, value, supported...)
}

// OptionalOneOf wants one of the supported values if there is one.
func OptionalOneOf[T ~string](path *field.Path, value *T, supported ...T) Errors {
	if value == nil {
		return nil
	}
	return OneOf(path, *value, supported...)
}

// number is a whole number.
type number interface{ ~int | ~int32 | ~int64 }

// NotNegative wants a number of at least 0. kube-apiserver shows all numbers as int64.
func NotNegative[T number](path *field.Path, value T) Errors {
	return When(value < 0, field.Invalid(path, int64(value), apivalidation.IsNegativeErrorMsg).WithOrigin("minimum"))
}

// OptionalNotNegative wants a number of at least 0 if there is one.
func OptionalNotNegative[T number](path *field.Path, value *T) Errors {
	if value == nil {
		return nil
	}
	return NotNegative(path, *value)
}

// Positive wants a number above 0.
func Positive[T number](path *field.Path, value T) Errors {
	return When(value <= 0, field.Invalid(path, int64(value), "must be greater than zero"))
}

// Within wants a number of a range.
func Within[T number](path *field.Path, value, least, most T) Errors {
	return When(value < least || value > most,
		field.Invalid(path, value, validation.InclusiveRangeError(int(least), int(most))))
}

// Immutable wants a value to be what it was.
func Immutable(path *field.Path, is, was any) Errors {
	return When(!equality.Semantic.DeepEqual(is, was),
		field.Invalid(path, is, apivalidation.FieldImmutableErrorMsg).WithOrigin("immutable"))
}

// Label wants a DNS label.
func Label(path *field.Path, value string) Errors {
	return Texts(path, value, validation.IsDNS1123Label(value))
}

// Subdomain wants a DNS subdomain.
func Subdomain(path *field.Path, value string) Errors {
	return Texts(path, value, validation.IsDNS1123Subdomain(value))
}

// QualifiedName wants a name that may have a domain before it.
func QualifiedName(path *field.Path, value string) Errors {
	return Texts(path, value, validation.IsQualifiedName(value))
}

// Port wants the number of a port.
func Port(path *field.Path, port int32) Errors {
	return Texts(path, port, validation.IsValidPortNum(int(port)))
}

// PortOrName wants the number or the name of a port.
func PortOrName(path *field.Path, port intstr.IntOrString) Errors {
	if port.Type == intstr.String {
		return Texts(path, port.StrVal, validation.IsValidPortName(port.StrVal))
	}
	return Texts(path, port.IntValue(), validation.IsValidPortNum(port.IntValue()))
}

// IP wants an IP address in its canonical form.
func IP(path *field.Path, value string) Errors {
	return validation.IsValidIPForLegacyField(path, value, true, nil)
}

// NotNegativeQuantity wants a quantity of at least 0.
func NotNegativeQuantity(path *field.Path, quantity resource.Quantity) Errors {
	return When(quantity.Sign() < 0, field.Invalid(path, quantity.String(), apivalidation.IsNegativeErrorMsg))
}

// Share wants a number of at least 0, or a percentage.
func Share(path *field.Path, share intstr.IntOrString) Errors {
	if share.Type == intstr.String {
		return Texts(path, share, validation.IsValidPercent(share.StrVal))
	}
	return NotNegative(path, share.IntValue())
}

// Percent returns the number of a percentage.
func Percent(share intstr.IntOrString) (percent int, is bool) {
	if share.Type != intstr.String || len(validation.IsValidPercent(share.StrVal)) > 0 {
		return 0, false
	}
	_, err := fmt.Sscanf(share.StrVal, "%d%%", &percent)
	return percent, err == nil
}

// Amount returns the number of a share: a percentage, or an absolute number.
func Amount(share intstr.IntOrString) int {
	if percent, is := Percent(share); is {
		return percent
	}
	return share.IntValue()
}

// AtMostAll wants a percentage of at most 100.
func AtMostAll(path *field.Path, share intstr.IntOrString) Errors {
	percent, is := Percent(share)
	return When(is && percent > 100, field.Invalid(path, share, "must not be greater than 100%"))
}

// AtMost wants a number that another one, which has a name, isn't below.
func AtMost[T number](path *field.Path, value, most T, name string) Errors {
	return When(value > most, field.Invalid(path, value, "cannot be greater than "+name))
}

// EndpointIP wants an address at which something can be reached from other machines.
func EndpointIP(path *field.Path, value string) (errs Errors) {
	ip, err := netip.ParseAddr(value)
	if err != nil {
		return Errors{field.Invalid(path, value, "must be a valid IP address")}
	}
	for _, kind := range []struct {
		is      bool
		message string
	}{
		{ip.IsUnspecified(), "may not be unspecified (" + value + ")"},
		{ip.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{ip.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{ip.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
	} {
		errs = append(errs, When(kind.is, field.Invalid(path, value, kind.message))...)
	}
	return errs
}

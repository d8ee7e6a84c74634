package cel

import (
	"net/url"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/validation"
	labels "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

type format struct {
	name string
	// check returns the errors of text.
	check func(string) []string
	// pattern is the length of an equivalent regular expression, for the cost.
	pattern int
}

var formatClass = &class[*format]{
	typ: celgo.ObjectType("kubernetes.NamedFormat"), name: "Format",
	equal: func(a, b *format) bool { return a.name == b.name },
}

// Lengths of the patterns of formats. The estimate takes mostPattern for all.
const (
	patternURL, patternBase64 = 1103, 84
	mostPattern, mostFormat   = 128, 64
)

// known are the formats by the names that expressions use.
var known = map[string]*format{
	"dns1123Label":           named(validation.NameIsDNSLabel, "DNS1123Label", false, 30),
	"dns1123Subdomain":       named(validation.NameIsDNSSubdomain, "DNS1123Subdomain", false, 60),
	"dns1035Label":           named(validation.NameIsDNS1035Label, "DNS1035Label", false, 30),
	"qualifiedName":          {"QualifiedName", labels.IsQualifiedName, 60},
	"dns1123LabelPrefix":     named(validation.NameIsDNSLabel, "DNS1123LabelPrefix", true, 30),
	"dns1123SubdomainPrefix": named(validation.NameIsDNSSubdomain, "DNS1123SubdomainPrefix", true, 60),
	"dns1035LabelPrefix":     named(validation.NameIsDNS1035Label, "DNS1035LabelPrefix", true, 30),
	"labelValue":             {"LabelValue", labels.IsValidLabelValue, 40},
	"uri":                    {"URI", checkURI, patternURL},
	"uuid":                   standard("uuid", "does not match the UUID format", len(strfmt.UUIDPattern)),
	"byte":                   standard("byte", "invalid base64", patternBase64),
	"date":                   standard("date", "invalid date", len(strfmt.DateTimePattern)),
	"datetime":               standard("datetime", "invalid datetime", len(strfmt.DateTimePattern)),
}

func named(check func(string, bool) []string, name string, prefix bool, pattern int) *format {
	return &format{name, func(s string) []string { return check(s, prefix) }, pattern}
}

func standard(name, fault string, pattern int) *format {
	return &format{name, func(s string) []string {
		if strfmt.Default.Validates(name, s) {
			return nil
		}
		return []string{fault}
	}, pattern}
}

func checkURI(s string) []string {
	if _, err := url.ParseRequestURI(s); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// formatFunctions are Kubernetes' named formats: format.dns1123Label(), format.named("uuid"), f.validate(text).
func formatFunctions() functions {
	typ, list := formatClass.typ, celgo.ListType(celgo.StringType)
	f := functions{
		"validate":     {member("format-validate", binary(validate).returns(celgo.OptionalType(list)))},
		"format.named": {global("format-named", unary(byName).returns(celgo.OptionalType(typ)))},
	}
	for name, known := range known {
		value := formatClass.of(known)
		f["format."+name] = []celgo.FunctionOpt{celgo.Overload("format."+name, nil, typ,
			celgo.FunctionBinding(func(...ref.Val) ref.Val { return value }))}
	}
	return f
}

func byName(name string) ref.Val {
	f, ok := known[name]
	if !ok {
		return types.OptionalNone
	}
	return types.OptionalOf(formatClass.of(f))
}

func validate(f *format, s string) ref.Val {
	faults := f.check(s)
	if len(faults) == 0 {
		return types.OptionalNone
	}
	return types.OptionalOf(types.NewStringList(types.DefaultTypeAdapter, faults))
}

package judge

import (
	"context"
	"maps"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/strfmt"

	"apigen.dev/generator/internal/model"
)

// declarativeFormats are those of Kubernetes' own grammar, with the functions that generated checks call, too.
var declarativeFormats = map[string]func(context.Context, operation.Operation, *apifield.Path, *string,
	*string) apifield.ErrorList{
	"k8s-extended-resource-name": validate.ExtendedResourceName[string],
	"k8s-label-key":              validate.LabelKey[string],
	"k8s-label-value":            validate.LabelValue[string],
	"k8s-long-name":              validate.LongName[string],
	//nolint:staticcheck // The deprecation advises authors of new types. Types that exist have the format.
	"k8s-long-name-caseless":            validate.LongNameCaseless[string],
	"k8s-path-segment-name":             validate.PathSegmentName[string],
	"k8s-prefixed-label-key":            validate.PrefixedLabelKey[string],
	"k8s-resource-fully-qualified-name": validate.ResourceFullyQualifiedName[string],
	"k8s-resource-pool-name":            validate.ResourcePoolName[string],
	"k8s-short-name":                    validate.ShortName[string],
	"k8s-uuid":                          validate.UUID[string],
}

var formats = slices.Sorted(maps.Keys(declarativeFormats))

// ofFormat reports whether a text is of the rule's format. Every text is of a format that kube-apiserver doesn't know,
// except ip, which is checked. For Kubernetes' own markers, an empty text is unset and so valid.
func ofFormat(r *model.Rule, text string) bool {
	check, known := declarativeFormats[r.Text]
	switch {
	case known:
		return text == "" && r.Declarative || len(check(context.Background(), operation.Operation{}, nil, &text,
			nil)) == 0
	case r.Text == "ip":
		_, err := netip.ParseAddr(text)
		return err == nil
	case r.Text == "password" || !strfmt.Default.ContainsName(r.Text):
		return true
	}
	return strfmt.Default.Validates(r.Text, text)
}

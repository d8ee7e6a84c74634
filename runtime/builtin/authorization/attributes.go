package authorization

import (
	"cmp"
	"fmt"
	"strings"

	"apigen.dev/runtime/internal/request"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// requestOf returns the request that attributes describe, and which of their selectors the authorizer doesn't see. One
// of the two kinds of attributes is nil.
func requestOf(
	resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes,
) (*request.Info, []string) {
	if resource == nil {
		return &request.Info{Verb: path.Verb, Path: path.Path}, nil
	}
	info := &request.Info{
		IsResource: true, Verb: resource.Verb, Namespace: resource.Namespace, Name: resource.Name,
		Group: resource.Group, Version: cmp.Or(resource.Version, "*"), Resource: resource.Resource,
		Subresource: resource.Subresource,
	}
	var problems []string
	note := func(name, selector string, whole bool) string {
		switch {
		case whole:
		case selector == "":
			problems = append(problems, "spec.resourceAttributes."+name+" ignored due to parse error")
		default:
			problems = append(problems, "spec.resourceAttributes."+name+" partially ignored due to parse error")
		}
		return selector
	}
	if s := resource.FieldSelector; s != nil {
		selector, whole := fieldSelector(s)
		info.FieldSelector = note("fieldSelector", selector, whole)
	}
	if s := resource.LabelSelector; s != nil {
		selector, whole := labelSelector(s)
		info.LabelSelector = note("labelSelector", selector, whole)
	}
	return info, problems
}

// fieldSelector returns the text of a selector, and whether it could read all of it. Requirements that it can't read
// are left out: the user then needs a permission for more objects.
func fieldSelector(s *authorizationv1.FieldSelectorAttributes) (text string, whole bool) {
	if s.RawSelector != "" {
		selector, err := fields.ParseSelector(s.RawSelector)
		if err != nil {
			return "", false
		}
		return selector.String(), true
	}
	var parts []string
	for _, r := range s.Requirements {
		operator, known := fieldOperators[r.Operator]
		if known && len(r.Values) == 1 {
			parts = append(parts, fmt.Sprintf("%s%s%s", r.Key, operator, fields.EscapeValue(r.Values[0])))
		}
	}
	return strings.Join(parts, ","), len(parts) == len(s.Requirements)
}

var fieldOperators = map[metav1.FieldSelectorOperator]string{
	metav1.FieldSelectorOpIn: "=", metav1.FieldSelectorOpNotIn: "!=",
}

// labelSelector is fieldSelector for labels.
func labelSelector(s *authorizationv1.LabelSelectorAttributes) (text string, whole bool) {
	if s.RawSelector != "" {
		selector, err := labels.Parse(s.RawSelector)
		if err != nil {
			return "", false
		}
		return selector.String(), true
	}
	selector, count := labels.NewSelector(), 0
	for _, r := range s.Requirements {
		operator, known := labelOperators[r.Operator]
		if !known {
			continue
		}
		if requirement, err := labels.NewRequirement(r.Key, operator, r.Values); err == nil {
			selector, count = selector.Add(*requirement), count+1
		}
	}
	return selector.String(), count == len(s.Requirements)
}

var labelOperators = map[metav1.LabelSelectorOperator]selection.Operator{
	metav1.LabelSelectorOpIn: selection.In, metav1.LabelSelectorOpNotIn: selection.NotIn,
	metav1.LabelSelectorOpExists: selection.Exists, metav1.LabelSelectorOpDoesNotExist: selection.DoesNotExist,
}

package webhookauth

import (
	"apigen.dev/runtime/auth"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// AccessReviewSpec is the spec of a SubjectAccessReview, in the wire form of authorization.k8s.io/v1.
type AccessReviewSpec struct {
	ResourceAttributes    *ResourceAttributes    `json:"resourceAttributes,omitempty"`
	NonResourceAttributes *NonResourceAttributes `json:"nonResourceAttributes,omitempty"`
	User                  string                 `json:"user,omitempty"`
	Groups                []string               `json:"groups,omitempty"`
	Extra                 map[string][]string    `json:"extra,omitempty"`
	UID                   string                 `json:"uid,omitempty"`
}

// AccessReviewSpecBeta is an AccessReviewSpec in v1beta1, which calls the groups group.
type AccessReviewSpecBeta struct {
	ResourceAttributes    *ResourceAttributes    `json:"resourceAttributes,omitempty"`
	NonResourceAttributes *NonResourceAttributes `json:"nonResourceAttributes,omitempty"`
	User                  string                 `json:"user,omitempty"`
	Groups                []string               `json:"group,omitempty"`
	Extra                 map[string][]string    `json:"extra,omitempty"`
	UID                   string                 `json:"uid,omitempty"`
}

// ResourceAttributes describe a request for a resource.
type ResourceAttributes struct {
	Namespace     string         `json:"namespace,omitempty"`
	Verb          string         `json:"verb,omitempty"`
	Group         string         `json:"group,omitempty"`
	Version       string         `json:"version,omitempty"`
	Resource      string         `json:"resource,omitempty"`
	Subresource   string         `json:"subresource,omitempty"`
	Name          string         `json:"name,omitempty"`
	FieldSelector *FieldSelector `json:"fieldSelector,omitempty"`
	LabelSelector *LabelSelector `json:"labelSelector,omitempty"`
}

// FieldSelector is the field selector of a request.
type FieldSelector struct {
	RawSelector  string                            `json:"rawSelector,omitempty"`
	Requirements []metav1.FieldSelectorRequirement `json:"requirements,omitempty"`
}

// LabelSelector is the label selector of a request.
type LabelSelector struct {
	RawSelector  string                            `json:"rawSelector,omitempty"`
	Requirements []metav1.LabelSelectorRequirement `json:"requirements,omitempty"`
}

// NonResourceAttributes describe a request for a path that names no resource.
type NonResourceAttributes struct {
	Path string `json:"path,omitempty"`
	Verb string `json:"verb,omitempty"`
}

// AccessReviewStatus is the answer to a SubjectAccessReview.
type AccessReviewStatus struct {
	Allowed         bool   `json:"allowed"`
	Denied          bool   `json:"denied,omitempty"`
	Reason          string `json:"reason,omitempty"`
	EvaluationError string `json:"evaluationError,omitempty"`
}

func (s *AccessReviewSpec) inBeta() *AccessReviewSpecBeta {
	beta := AccessReviewSpecBeta(*s)
	return &beta
}

// chosen returns the size of what the requester chooses.
func (s *AccessReviewSpec) chosen() int {
	if r := s.ResourceAttributes; r != nil {
		return len(r.Namespace) + len(r.Verb) + len(r.Group) + len(r.Version) + len(r.Resource) + len(r.Subresource) +
			len(r.Name)
	}
	return len(s.NonResourceAttributes.Path) + len(s.NonResourceAttributes.Verb)
}

// specOf returns the question about a request.
func specOf(a auth.Attributes) *AccessReviewSpec {
	spec := &AccessReviewSpec{}
	if u := a.User; u != nil {
		spec.User, spec.UID, spec.Groups, spec.Extra = u.Name, u.UID, u.Groups, u.Extra
	}
	if !a.IsResource {
		spec.NonResourceAttributes = &NonResourceAttributes{Path: a.Path, Verb: a.Verb}
		return spec
	}
	spec.ResourceAttributes = &ResourceAttributes{
		Namespace: a.Namespace, Verb: a.Verb, Group: a.Group, Version: a.Version, Resource: a.Resource,
		Subresource: a.Subresource, Name: a.Name,
	}
	if requirements := fieldRequirements(a.FieldSelector); len(requirements) > 0 {
		spec.ResourceAttributes.FieldSelector = &FieldSelector{Requirements: requirements}
	}
	if requirements := labelRequirements(a.LabelSelector); len(requirements) > 0 {
		spec.ResourceAttributes.LabelSelector = &LabelSelector{Requirements: requirements}
	}
	return spec
}

// fieldRequirements returns the requirements of a selector. Selectors only narrow, so that a question without those of
// a selector that can't be parsed is about more than the request.
func fieldRequirements(text string) (requirements []metav1.FieldSelectorRequirement) {
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return nil
	}
	for _, r := range selector.Requirements() {
		operator := metav1.FieldSelectorOpIn
		if r.Operator == selection.NotEquals {
			operator = metav1.FieldSelectorOpNotIn
		}
		requirements = append(requirements,
			metav1.FieldSelectorRequirement{Key: r.Field, Operator: operator, Values: []string{r.Value}})
	}
	return requirements
}

var labelOperators = map[selection.Operator]metav1.LabelSelectorOperator{
	selection.Equals: metav1.LabelSelectorOpIn, selection.DoubleEquals: metav1.LabelSelectorOpIn,
	selection.In: metav1.LabelSelectorOpIn, selection.NotEquals: metav1.LabelSelectorOpNotIn,
	selection.NotIn: metav1.LabelSelectorOpNotIn, selection.Exists: metav1.LabelSelectorOpExists,
	selection.DoesNotExist: metav1.LabelSelectorOpDoesNotExist,
}

// labelRequirements returns the requirements of a selector, without those whose operators reviews don't have.
func labelRequirements(text string) (requirements []metav1.LabelSelectorRequirement) {
	parsed, err := labels.ParseToRequirements(text)
	if err != nil {
		return nil
	}
	for _, r := range parsed {
		if operator, ok := labelOperators[r.Operator()]; ok {
			requirements = append(requirements,
				metav1.LabelSelectorRequirement{Key: r.Key(), Operator: operator, Values: r.ValuesUnsorted()})
		}
	}
	return requirements
}

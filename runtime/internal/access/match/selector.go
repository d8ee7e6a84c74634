package match

import (
	"context"

	"apigen.dev/runtime/admission"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Selectors select writes by the labels of objects and of their namespaces. The zero value selects everything.
type Selectors struct {
	namespace, object labels.Selector
}

// NewSelectors parses selectors; nil selects everything.
func NewSelectors(namespace, object *metav1.LabelSelector) (Selectors, error) {
	var s Selectors
	var err error
	if namespace != nil {
		if s.namespace, err = metav1.LabelSelectorAsSelector(namespace); err != nil {
			return s, err
		}
	}
	if object != nil {
		s.object, err = metav1.LabelSelectorAsSelector(object)
	}
	return s, err
}

// MatchObject reports whether the new object or the old one has the labels.
func (s *Selectors) MatchObject(a *admission.Attributes) bool {
	if s.object == nil || s.object.Empty() {
		return true
	}
	return s.selects(a.Object) || s.selects(a.Old)
}

func (s *Selectors) selects(o admission.Object) bool {
	if o == nil || o.Meta() == nil {
		return false
	}
	return s.object.Matches(labels.Set(o.Meta().GetLabels()))
}

// MatchNamespace reports whether the namespace of a write has the labels. What is in no namespace always matches.
func (s *Selectors) MatchNamespace(ctx context.Context, a *admission.Attributes, n Namespaces) (bool, error) {
	if s.namespace == nil || s.namespace.Empty() {
		return true, nil
	}
	if isNamespace(a) && a.Object != nil && a.Object.Meta() != nil && a.Subresource == "" {
		return s.namespace.Matches(labels.Set(a.Object.Meta().GetLabels())), nil
	}
	name := a.Namespace
	if isNamespace(a) {
		name = a.Name
	}
	if name == "" {
		return true, nil
	}
	found, err := n.Labels(ctx, name)
	if err != nil {
		return false, err
	}
	return s.namespace.Matches(labels.Set(found)), nil
}

// Namespaces finds the namespaces of writes.
type Namespaces interface {
	// Labels returns the labels of a namespace. A missing one is an apierrors.NewNotFound.
	Labels(ctx context.Context, name string) (map[string]string, error)
	// Content returns a namespace as expressions see it; nil if the server has no namespaces.
	Content(ctx context.Context, name string) (map[string]any, error)
}

func noNamespace(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, name)
}

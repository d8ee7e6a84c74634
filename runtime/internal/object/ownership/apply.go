package ownership

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

const (
	// Kubectl is the field manager of kubectl apply. It takes over, without a conflict, the fields that the annotation
	// says kubectl applied on the client's side before, and it keeps the annotation up to date.
	Kubectl = "kubectl"
	// LastAppliedAnnotation is where kubectl keeps the object that it applied on the client's side.
	LastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"
)

// Live is the object to which a client applies a configuration.
type Live struct {
	Object
	// Empty is the object with nothing in it but its apiVersion and kind.
	Empty         Object
	ManagedFields []metav1.ManagedFieldsEntry
	// LastApplied is the value of kubectl's annotation, "" for none.
	LastApplied string
}

// Applied is the result of an apply.
type Applied struct {
	// Object is nil if the apply changes nothing but, maybe, managedFields.
	Object        map[string]any
	ManagedFields []metav1.ManagedFieldsEntry
}

// Apply merges the configuration of a manager into an object. The manager then manages all fields that config sets.
// Apply removes fields that the manager applied before and that config doesn't set any more, unless another manager has
// them. config must be of the Manager's version. Where other managers have fields that would change, the error is a 409
// that names them; with force, the manager takes these fields over. A wrong config is a 400, one that is too long a
// 413.
func (m *Manager) Apply(live *Live, config map[string]any, manager string, force bool) (Applied, error) {
	all, err := m.Sets.managers(live.ManagedFields)
	if err != nil {
		return Applied{}, fmt.Errorf("failed to decode managed fields: %w", err)
	}
	if err := Bound(config); err != nil {
		return Applied{}, apierrors.NewRequestEntityTooLargeError(err.Error())
	}
	object, err := m.types(config)
	if err != nil {
		u := unstructured.Unstructured{Object: config}
		return Applied{}, apierrors.NewBadRequest(fmt.Sprintf("failed to create typed patch object (%s/%s; %s): %v",
			u.GetNamespace(), u.GetName(), u.GroupVersionKind(), err))
	}
	before, err := live.At(m.Version)
	if errors.Is(err, ErrTooLong) {
		return Applied{}, apierrors.NewRequestEntityTooLargeError(err.Error())
	}
	if err != nil {
		return Applied{}, fmt.Errorf("failed to create typed live object: %w", err)
	}
	if len(all.fields) == 0 {
		id := identityOf(beforeApply, metav1.ManagedFieldsOperationUpdate, m)
		if err := m.update(all, live.Empty, live.Object, id); err != nil {
			return Applied{}, fmt.Errorf("failed to create manager for existing fields: %w", err)
		}
	}
	id := identityOf(manager, metav1.ManagedFieldsOperationApply, m)
	after, fields, err := m.updater().Apply(before, object, m.Version, all.fields, id.key(), force)
	var conflicts merge.Conflicts
	if errors.As(err, &conflicts) {
		if manager == Kubectl && live.LastApplied != "" {
			allowed := m.lastApplied(before, live.LastApplied)
			conflicts = slices.DeleteFunc(conflicts, func(c merge.Conflict) bool { return allowed.Has(c.Path) })
		}
		if len(conflicts) > 0 {
			return Applied{}, conflictError(conflicts)
		}
		after, fields, err = m.updater().Apply(before, object, m.Version, all.fields, id.key(), true)
	}
	if errors.As(err, new(apierrors.APIStatus)) { // of a conversion
		return Applied{}, err
	}
	if err != nil {
		return Applied{}, apierrors.NewBadRequest(err.Error())
	}
	all.fields = fields
	return m.applied(all, after, id)
}

func (m *Manager) applied(all *managers, after *typed.TypedValue, id identity) (out Applied, err error) {
	key := id.key()
	if managed, ok := all.fields[key]; ok {
		all.reduce(key, managed, managed.Set().Difference(unmanaged))
	}
	if after != nil {
		e := all.known[key]
		e.id, e.time = id, now()
		all.known[key] = e
		object, ok := after.AsValue().Unstructured().(map[string]any)
		if !ok {
			return out, apierrors.NewBadRequest("the object that was applied is no object")
		}
		out.Object = object
	}
	out.ManagedFields, err = all.entries()
	return out, err
}

func (m *Manager) types(object map[string]any, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return m.Types.ObjectToTyped(&unstructured.Unstructured{Object: object}, options...)
}

// lastApplied returns the fields that the annotation sets and that still have the annotation's values; none where it
// can't be read.
func (m *Manager) lastApplied(live *typed.TypedValue, annotation string) *fieldpath.Set {
	var object map[string]any
	none := fieldpath.NewSet()
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(annotation), &object); err != nil {
		return none
	}
	if version, _ := object["apiVersion"].(string); version != string(m.Version) {
		return none
	}
	last, err := m.types(object)
	if err != nil {
		return none
	}
	set, err := last.ToFieldSet()
	if err != nil {
		return none
	}
	change, err := last.Compare(live)
	if err != nil {
		return none
	}
	return set.Difference(change.Modified).Difference(change.Added).Difference(change.Removed)
}

// LastApplied returns the value of kubectl's annotation after config was applied to an object that has the annotation.
func LastApplied(config map[string]any) (string, error) {
	bare := (&unstructured.Unstructured{Object: config}).DeepCopy()
	annotations := bare.GetAnnotations()
	delete(annotations, LastAppliedAnnotation)
	bare.SetAnnotations(annotations)
	value, err := json.Marshal(bare.Object)
	return string(value) + "\n", err
}

func conflictError(conflicts merge.Conflicts) error {
	slices.SortStableFunc(conflicts, func(a, b merge.Conflict) int { return strings.Compare(a.Manager, b.Manager) })
	causes := make([]metav1.StatusCause, len(conflicts))
	for i, c := range conflicts {
		causes[i] = metav1.StatusCause{
			Type: metav1.CauseTypeFieldManagerConflict, Message: "conflict with " + printed(c.Manager),
			Field: c.Path.String(),
		}
	}
	if len(conflicts) == 1 {
		return apierrors.NewApplyConflict(causes, fmt.Sprintf("Apply failed with 1 conflict: %s: %s", causes[0].Message,
			causes[0].Field))
	}
	var lines []string
	manager := ""
	for i, c := range conflicts {
		if i == 0 || c.Manager != manager {
			lines = append(lines, "conflicts with "+printed(c.Manager)+":")
		}
		manager = c.Manager
		lines = append(lines, "- "+causes[i].Field)
	}
	return apierrors.NewApplyConflict(causes, fmt.Sprintf("Apply failed with %d conflicts: %s", len(conflicts),
		strings.Join(lines, "\n")))
}

// printed returns the name of a manager for messages.
func printed(key string) string {
	id, err := identityIn(key)
	if err != nil {
		return fmt.Sprintf("%q", key)
	}
	text := fmt.Sprintf("%q", id.Manager)
	if id.Subresource != "" {
		text = fmt.Sprintf("%s with subresource %q", text, id.Subresource)
	}
	if id.Operation == metav1.ManagedFieldsOperationUpdate {
		text += " using " + id.APIVersion
	}
	return text
}

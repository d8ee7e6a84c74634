package apiextensions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1 "apigen.dev/runtime/builtin/apiextensions/v1"
	"apigen.dev/runtime/reach"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// clean deletes the objects of a definition that is being deleted, and then its finalizer, beside the changes of other
// definitions.
func (c *controller) clean(ctx context.Context, definitions reach.Objects[*definition], crd *definition) {
	if crd.DeletionTimestamp == nil || c.cleaning[crd.UID] ||
		!slices.Contains(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		return
	}
	c.cleaning[crd.UID] = true
	resource := schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural}
	served := v1.IsTrue(crd, apiextensionsv1.Established)
	name, uid := crd.Name, crd.UID
	c.working.Go(func() {
		for wait := pause / 10; ; wait = min(2*wait, 30*time.Second) {
			err := c.empty(ctx, definitions, name, resource, served)
			if err == nil {
				err = c.release(ctx, definitions, name)
			}
			if err == nil || apierrors.IsNotFound(err) {
				return
			}
			if !errors.Is(err, errLeft) {
				c.log.Warn("the objects of a definition can't be deleted yet", "name", name, "uid", uid, "error", err)
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return
			}
		}
	})
}

var errLeft = errors.New("there are objects left")

// empty deletes the objects, and fails while there are some.
func (c *controller) empty(
	ctx context.Context, definitions reach.Objects[*definition], name string, resource schema.GroupResource,
	served bool,
) error {
	if !served {
		return nil // there can be none
	}
	catalog, err := reach.CatalogFrom(ctx)
	if err != nil {
		return err
	}
	if err := c.tell(ctx, definitions, name, "InstanceDeletionInProgress", "CustomResource deletion is in progress",
		apiextensionsv1.ConditionTrue); err != nil {
		return err
	}
	err = catalog.DeleteAll(ctx, resource, "", metav1.DeleteOptions{})
	if err == nil {
		var left int64
		if left, err = catalog.Count(ctx, resource, ""); err == nil && left > 0 {
			return errLeft
		}
	}
	if err == nil {
		return nil
	}
	message := fmt.Sprintf("could not issue all deletes: %v", err)
	return errors.Join(err, c.tell(ctx, definitions, name, "InstanceDeletionFailed", message,
		apiextensionsv1.ConditionTrue))
}

// tell sets the condition Terminating.
func (c *controller) tell(
	ctx context.Context, definitions reach.Objects[*definition], name, reason, message string,
	status apiextensionsv1.ConditionStatus,
) error {
	how := reach.Write{Subresource: "status", Manager: manager}
	_, err := definitions.Update(ctx, "", name, how, func(crd *definition) error {
		v1.SetCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{
			Type: apiextensionsv1.Terminating, Status: status, Reason: reason, Message: message,
		})
		return nil
	})
	return err
}

// release removes the finalizer, after which the definition is gone.
func (c *controller) release(ctx context.Context, definitions reach.Objects[*definition], name string) error {
	if err := c.tell(ctx, definitions, name, "InstanceDeletionCompleted", "removed all instances",
		apiextensionsv1.ConditionFalse); err != nil {
		return err
	}
	_, err := definitions.Update(ctx, "", name, reach.Write{Manager: manager}, func(crd *definition) error {
		crd.Finalizers = slices.DeleteFunc(crd.Finalizers, func(f string) bool {
			return f == apiextensionsv1.CustomResourceCleanupFinalizer
		})
		return nil
	})
	return err
}

package plugins

import (
	"context"
	"fmt"
	"slices"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/reach"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ownerReferences is the plug-in OwnerReferencesPermissionEnforcement: only who may delete an object may change its
// owners, and only who may set the finalizers of an owner may have its deletion wait for the object.
func ownerReferences() admission.Plugin {
	return admission.Plugin{
		Name: "OwnerReferencesPermissionEnforcement", Off: true,
		Handles: func(a *admission.Attributes) bool {
			// A binding of a pod has no owners, and its strategy keeps those of the pod.
			binding := a.Resource.Group == "" && a.Resource.Resource == "pods" && a.Subresource == "binding" ||
				a.IsResource("", "bindings")
			return (a.Operation == admission.Create || a.Operation == admission.Update) && !binding
		},
		Validate: checkOwners,
	}
}

func checkOwners(ctx context.Context, a *admission.Attributes) error {
	owners, before := ownersOf(a.Object), ownersOf(a.Old)
	if slices.EqualFunc(owners, before, sameOwner) {
		return nil
	}
	if a.Operation == admission.Update {
		ok, reason, err := allowed(ctx, a.User, request.Info{
			Verb: "delete", Namespace: a.Namespace, Group: a.Resource.Group, Version: a.Resource.Version,
			Resource: a.Resource.Resource, Subresource: a.Subresource, Name: a.Name,
		})
		if !ok {
			//nolint:errorlint // Without an error it says <nil>, as kube-apiserver does.
			return fmt.Errorf("cannot set an ownerRef on a resource you can't delete: %v, %v", reason, err)
		}
	}
	blocking := newlyBlocking(owners, before)
	if len(blocking) == 0 {
		return nil
	}
	if everything, _, _ := allowed(ctx, a.User, request.Info{
		Verb: "update", Group: "*", Version: "*", Resource: "*", Subresource: "finalizers", Name: "*",
	}); everything {
		return nil
	}
	for _, owner := range blocking {
		if err := mayBlock(ctx, a, owner); err != nil {
			return err
		}
	}
	return nil
}

func ownersOf(o admission.Object) []metav1.OwnerReference {
	if o == nil || o.Meta() == nil {
		return nil
	}
	return o.Meta().GetOwnerReferences()
}

func sameOwner(a, b metav1.OwnerReference) bool {
	same := func(a, b *bool) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
	return a.UID == b.UID && a.Name == b.Name && a.Kind == b.Kind && a.APIVersion == b.APIVersion &&
		same(a.Controller, b.Controller) && same(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

// newlyBlocking returns the owners whose deletion waits for the object, and didn't before.
func newlyBlocking(owners, before []metav1.OwnerReference) (blocking []metav1.OwnerReference) {
	for _, owner := range owners {
		same := func(old metav1.OwnerReference) bool { return old.UID == owner.UID && blocks(old) }
		if blocks(owner) && !slices.ContainsFunc(before, same) {
			blocking = append(blocking, owner)
		}
	}
	return blocking
}

func blocks(owner metav1.OwnerReference) bool {
	return owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion
}

// mayBlock refuses a user who may not set the finalizers of an owner.
func mayBlock(ctx context.Context, a *admission.Attributes, owner metav1.OwnerReference) error {
	resource, err := resourceOf(ctx, owner)
	if err != nil {
		return fmt.Errorf("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for "+
			"APIVersion %s Kind %s: %v", owner.APIVersion, owner.Kind, err)
	}
	gv, _ := schema.ParseGroupVersion(owner.APIVersion) // resourceOf has parsed it
	info := request.Info{
		Verb: "update", Group: gv.Group, Version: gv.Version, Resource: resource.GroupResource.Resource,
		Subresource: "finalizers", Name: owner.Name,
	}
	if resource.Namespaced {
		info.Namespace = a.Namespace
	}
	if ok, reason, err := allowed(ctx, a.User, info); !ok {
		return fmt.Errorf("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set "+
			"finalizers on: %v, %v", reason, err)
	}
	return nil
}

func resourceOf(ctx context.Context, owner metav1.OwnerReference) (reach.Resource, error) {
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return reach.Resource{}, err
	}
	catalog, err := reach.CatalogFrom(ctx)
	if err != nil {
		return reach.Resource{}, err
	}
	resource, found := reach.FindKind(catalog, gv.WithKind(owner.Kind))
	if !found {
		return reach.Resource{}, fmt.Errorf("no matches for kind %q in version %q", owner.Kind, owner.APIVersion)
	}
	return resource, nil
}

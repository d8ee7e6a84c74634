package subresource

import (
	"context"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/internal/versioned"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// attributes returns what admission sees of a request for a subresource, without objects, whose kind is gvk.
func (h Host[T]) attributes(
	ctx context.Context, operation admission.Operation, t Target, gvk schema.GroupVersionKind, opts verb.WriteOptions,
) *admission.Attributes {
	seen := &admission.Attributes{
		Operation: operation, Kind: gvk, Subresource: t.Subresource, Namespace: t.Namespace, Name: t.Name,
		DryRun: opts.DryRun, User: auth.UserFrom(ctx),
	}
	if operation != admission.Connect {
		sent := opts.Sent
		if sent == nil {
			sent = &metav1.PatchOptions{}
		}
		seen.Options = operation.WriteOptions(sent)
	}
	served := h.version(ctx)
	for _, v := range h.Info.Versions {
		gv := schema.GroupVersion{Group: h.Info.Group, Version: v.Name}
		form := admission.Form{Resource: gv.WithResource(h.Info.Names.Plural), Kind: gvk}
		if v.Name == served {
			seen.Resource = form.Resource
		}
		seen.Equivalents = append(seen.Equivalents, form)
	}
	seen.Merge = func(kind schema.GroupVersionKind, object, config map[string]any) (map[string]any, error) {
		return h.Schemas.Merge(seen.Resource.GroupVersion(), kind, object, config)
	}
	return seen
}

// version returns the version of the resource that the request names.
func (h Host[T]) version(ctx context.Context) string {
	if info := request.InfoFrom(ctx); info != nil && h.Info.Version(info.Version) != nil {
		return info.Version
	}
	return h.Info.Versions[0].Name
}

// admitPosted runs the mutating plug-ins on what a client posted to a subresource.
func admitPosted[B api.Object](
	ctx context.Context, plugins *admission.Chain, seen *admission.Attributes, versions *codec.Versions[B], in B,
) (B, error) {
	object := versioned.New(versions, in)
	seen.Object = object
	err := plugins.Admit(ctx, seen)
	return object.Hub(), err
}

// admitConnection runs all plug-ins on the options of a connection, which mutating ones may change.
func admitConnection[T api.Object](
	ctx context.Context, h Host[T], t Target, kind schema.GroupVersionKind, options any,
) error {
	if h.Admission == nil {
		return nil
	}
	switch {
	case kind.Empty():
		kind = schema.GroupVersionKind{Group: h.Info.Group, Version: h.version(ctx), Kind: h.Info.Names.Kind}
	case kind.Version == "":
		kind.Version = h.version(ctx)
	}
	seen := h.attributes(ctx, admission.Connect, t, kind, verb.WriteOptions{})
	seen.Object = versioned.Options{Of: options, Kind: kind}
	if err := h.Admission.Admit(ctx, seen); err != nil {
		return err
	}
	return h.Admission.Validate(ctx, seen)
}

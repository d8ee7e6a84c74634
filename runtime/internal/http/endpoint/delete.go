package endpoint

import (
	"context"
	"net/http"

	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/json"
)

// delete deletes an object, and answers with a Status, or with the object if its kind asks for that. An object that
// waits for finalizers or its grace period is only marked, and delete answers with the object.
func (req *resourceRequest) delete() error {
	accepted, err := req.negotiate(negotiation.Output, negotiation.ObjectTransform)
	if err != nil {
		return err
	}
	options, orphan, err := req.deleteOptions(accepted)
	if err != nil {
		return err
	}
	if options.IgnoreReadErrors {
		trail.Annotate(req.r.Context(), "apiserver.k8s.io/unsafe-delete-ignore-read-error", "")
		if err := req.api.unsafeDelete(req.r); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(req.writeContext(options.DryRun), maxWriteTime)
	defer cancel()
	deletion, err := req.handle.Delete(ctx, req.namespace, req.requestInfo.Name, options)
	req.releaseBody()
	if err != nil {
		return err
	}
	code := http.StatusOK
	if !deletion.Done && orphan != nil && !*orphan {
		code = http.StatusAccepted
	}
	if deletion.Shown || !deletion.Done && !deletion.Pending {
		return req.writeObject(accepted, code, deletion.Object)
	}
	if accepted.notAcceptable != nil {
		return accepted.notAcceptable
	}
	respond.Status(req.w, req.r, accepted.media, code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name: req.requestInfo.Name, Group: req.resourceInfo.Group, Kind: req.resourceInfo.Names.Plural,
			UID: types.UID(deletion.UID),
		},
	})
	return nil
}

// deleteCollection deletes the objects that the selectors select, and answers with a list of them.
func (req *resourceRequest) deleteCollection() error {
	accepted, err := req.negotiate(negotiation.Output, negotiation.ListTransform)
	if err != nil {
		return err
	}
	list, err := req.listOptions()
	if err != nil {
		return err
	}
	options, _, err := req.deleteOptions(accepted)
	if err != nil {
		return err
	}
	if options.IgnoreReadErrors {
		return invalidOptions("DeleteOptions", field.ErrorList{field.Invalid(
			field.NewPath("ignoreStoreReadErrorWithClusterBreakingPotential"), true,
			"is not allowed with DELETECOLLECTION, try again after removing the option")})
	}
	ctx := req.writeContext(options.DryRun)
	page, err := req.handle.DeleteCollection(ctx, req.namespace, options, req.claiming(apiListOptions(list)))
	req.releaseBody()
	if err != nil {
		return err
	}
	defer page.Close()
	return req.writePage(accepted, page)
}

// deleteOptions reads the options from the body if there is one, else from the query; it doesn't mix the two. When a
// collection is deleted, the resourceVersion in the query only applies to the list: kube-apiserver takes it for a
// precondition, too, which hardly any object meets. orphan is the deprecated option, which clients still send.
func (req *resourceRequest) deleteOptions(accepted acceptance) (verb.DeleteOptions, *bool, error) {
	data, err := req.readBody()
	if err != nil {
		return verb.DeleteOptions{}, nil, err
	}
	options := &metav1.DeleteOptions{}
	if len(data) > 0 {
		if err = req.decodeDeleteOptions(data, options); err == nil {
			req.auditOptions(options)
		}
	} else if err = metav1.Convert_url_Values_To_v1_DeleteOptions(&req.query, options, nil); err != nil {
		err = apierrors.NewBadRequest(err.Error())
	} else if options.Preconditions != nil && req.requestInfo.Verb == "deletecollection" {
		options.Preconditions.ResourceVersion = nil
	}
	if err == nil {
		err = invalidOptions("DeleteOptions", metavalidation.ValidateDeleteOptions(options))
	}
	orphan := options.OrphanDependents //nolint:staticcheck // clients still send the deprecated option
	propagation := options.PropagationPolicy
	if orphan != nil {
		propagation = ptr.To(metav1.DeletePropagationBackground)
		if *orphan {
			propagation = ptr.To(metav1.DeletePropagationOrphan)
		}
	}
	options.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("DeleteOptions"))
	dryRun := len(options.DryRun) > 0 || accepted.notAcceptable != nil
	return verb.DeleteOptions{
		WriteOptions: verb.WriteOptions{DryRun: dryRun, Form: accepted.form}, Preconditions: options.Preconditions,
		GracePeriodSeconds: options.GracePeriodSeconds, Propagation: propagation,
		Sent: options, IgnoreReadErrors: ptr.Deref(options.IgnoreStoreReadErrorWithClusterBreakingPotential, false),
	}, orphan, err
}

// decodeDeleteOptions decodes the kind DeleteOptions of any group, as kube-apiserver does: clients send it in the group
// of the resource, or in another group that they know. It refuses other kinds.
func (req *resourceRequest) decodeDeleteOptions(data []byte, options *metav1.DeleteOptions) error {
	format, err := negotiation.Input(req.r, negotiation.AnyFormat)
	if err != nil {
		return err
	}
	switch format {
	case negotiation.Protobuf:
		err = decodeProtobufOptions(data, options)
	case negotiation.CBOR:
		data, err = cborToJSON(data)
	case negotiation.YAML:
		if data, _, _, err = yamlToJSON(data, metav1.FieldValidationIgnore, req.api.maxBody); err != nil {
			err = apierrors.NewBadRequest(err.Error())
		}
	}
	if err != nil {
		return err
	}
	if format != negotiation.Protobuf {
		if err := checkDepth(data); err != nil {
			return err
		}
		if _, err := serializer.DefaultMetaFactory.Interpret(data); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		if err := json.UnmarshalCaseSensitivePreserveInts(data, options); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	if options.Kind != "" && options.Kind != "DeleteOptions" {
		return apierrors.NewBadRequest("decoded object cannot be converted to DeleteOptions")
	}
	if _, err := schema.ParseGroupVersion(options.APIVersion); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

func decodeProtobufOptions(data []byte, options *metav1.DeleteOptions) error {
	message, gvk, err := wire.OpenEnvelope(data)
	if err == nil && (gvk.Kind == "" || gvk.Kind == "DeleteOptions") {
		err = options.Unmarshal(message)
	}
	if err != nil {
		return apierrors.NewBadRequest("the body is no DeleteOptions: " + err.Error())
	}
	options.Kind = gvk.Kind
	return nil
}

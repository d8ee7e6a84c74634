package endpoint

import (
	"context"
	"errors"
	"net/http"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/negotiation"
	"apigen.dev/runtime/respond"
	"apigen.dev/runtime/wire"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/json"
)

// delete deletes an object, and answers with a Status, or with the object if its kind asks for that. An object that
// waits for finalizers or its grace period is only marked, and delete answers with the object.
func (req *resourceRequest) delete() error {
	media, form, notAcceptable := req.negotiate(negotiation.ObjectTransform)
	if notAcceptable != nil && !req.misfits(notAcceptable) {
		return notAcceptable
	}
	options, err := req.deleteOptions()
	if err != nil {
		return err
	}
	if ignoresReadErrors(options) {
		if err := req.api.unsafeDelete(req.r); err != nil {
			return err
		}
	}
	if notAcceptable != nil {
		options.DryRun = []string{metav1.DryRunAll} // see refuse
	}
	ctx, cancel := context.WithTimeout(req.writeContext(len(options.DryRun) > 0), maxWriteTime)
	defer cancel()
	deletion, err := req.handle.Delete(ctx, req.namespace, req.requestInfo.Name, apiDeleteOptions(options, form))
	if err != nil {
		return err
	}
	if notAcceptable != nil {
		return notAcceptable
	}
	code := http.StatusOK
	//nolint:staticcheck // clients still send the deprecated option
	if orphan := options.OrphanDependents; !deletion.Done && orphan != nil && !*orphan {
		code = http.StatusAccepted
	}
	if deletion.Shown || !deletion.Done && !deletion.Pending {
		req.writeObject(media, code, form, deletion.Object)
		return nil
	}
	media.As = negotiation.Transform{}
	respond.Document(req.w, media, code, &metav1.Status{
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
	media, form, notAcceptable := req.negotiate(negotiation.ListTransform)
	if notAcceptable != nil && !req.misfits(notAcceptable) {
		return notAcceptable
	}
	list, err := req.listOptions()
	if err != nil {
		return err
	}
	options, err := req.deleteOptions()
	if err != nil {
		return err
	}
	if ignoresReadErrors(options) {
		return invalidOptions("DeleteOptions", field.ErrorList{field.Invalid(
			field.NewPath("ignoreStoreReadErrorWithClusterBreakingPotential"), true,
			"is not allowed with DELETECOLLECTION, try again after removing the option")})
	}
	if notAcceptable != nil {
		options.DryRun = []string{metav1.DryRunAll} // see refuse
	}
	ctx := req.writeContext(len(options.DryRun) > 0)
	page, err := req.handle.DeleteCollection(ctx, req.namespace, apiDeleteOptions(options, form), apiListOptions(list))
	if err != nil {
		return err
	}
	defer page.Close()
	if notAcceptable != nil {
		return notAcceptable
	}
	req.writePage(media, form, page)
	return nil
}

// ignoresReadErrors tells whether the client wants to delete an object although the server can't read it.
func ignoresReadErrors(options *metav1.DeleteOptions) bool {
	ignore := options.IgnoreStoreReadErrorWithClusterBreakingPotential
	return ignore != nil && *ignore
}

// deleteOptions reads the options from the body if there is one, else from the query; it doesn't mix the two. When a
// collection is deleted, the resourceVersion in the query only applies to the list: kube-apiserver takes it for a
// precondition, too, which hardly any object meets.
func (req *resourceRequest) deleteOptions() (*metav1.DeleteOptions, error) {
	data, err := req.readBody()
	if err != nil {
		return nil, err
	}
	options := &metav1.DeleteOptions{}
	if len(data) > 0 {
		err = req.decodeDeleteOptions(data, options)
	} else if err = metav1.Convert_url_Values_To_v1_DeleteOptions(&req.query, options, nil); err != nil {
		err = apierrors.NewBadRequest(err.Error())
	} else if options.Preconditions != nil && req.requestInfo.Verb == "deletecollection" {
		options.Preconditions.ResourceVersion = nil
	}
	if err != nil {
		return nil, err
	}
	return options, invalidOptions("DeleteOptions", metavalidation.ValidateDeleteOptions(options))
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
		data, _, err = yamlToJSON(data, metav1.FieldValidationIgnore, req.api.maxBody)
	}
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		return apierrors.NewBadRequest(syntax.text)
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

func apiDeleteOptions(options *metav1.DeleteOptions, form api.Form) api.DeleteOptions {
	propagation := options.PropagationPolicy
	//nolint:staticcheck // clients still send the deprecated option
	if orphan := options.OrphanDependents; orphan != nil {
		policy := metav1.DeletePropagationBackground
		if *orphan {
			policy = metav1.DeletePropagationOrphan
		}
		propagation = &policy
	}
	return api.DeleteOptions{
		WriteOptions:       api.WriteOptions{DryRun: len(options.DryRun) > 0, Form: form},
		Preconditions:      options.Preconditions,
		GracePeriodSeconds: options.GracePeriodSeconds,
		Propagation:        propagation,
		IgnoreReadErrors:   ignoresReadErrors(options),
	}
}

package endpoint

import (
	"context"
	"errors"
	"net/http"

	"apigen.dev/runtime/api"
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

// delete removes an object, and answers with a Status, or with the object where its kind says so; or marks it where it must
// wait, and answers with the object.
func (c *call) delete() error {
	media, form, err := c.negotiate(singleTransform)
	if err != nil {
		return err
	}
	options, err := c.deleteOptions()
	if err != nil {
		return err
	}
	if ignoresReadErrors(options) {
		if err := c.api.unsafeDelete(c.r); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(c.writing(len(options.DryRun) > 0), maxWriteTime)
	defer cancel()
	deletion, err := c.handle.Delete(ctx, c.namespace, c.info.Name, asRegistryDelete(options, form))
	if err != nil {
		return err
	}
	code := http.StatusOK
	//nolint:staticcheck // clients still send the deprecated option
	if orphan := options.OrphanDependents; !deletion.Done && orphan != nil && !*orphan {
		code = http.StatusAccepted
	}
	if deletion.Shown || !deletion.Done && !deletion.Pending {
		c.object(media, code, form, deletion.Object)
		return nil
	}
	media.as = transform{}
	writeDocument(c.w, media, code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name: c.info.Name, Group: c.resource.info.Group, Kind: c.resource.info.Names.Plural, UID: types.UID(deletion.UID),
		},
	})
	return nil
}

// deleteCollection deletes what a selection takes, and answers with a list of it.
func (c *call) deleteCollection() error {
	media, form, err := c.negotiate(listTransform)
	if err != nil {
		return err
	}
	list, err := c.listOptions()
	if err != nil {
		return err
	}
	options, err := c.deleteOptions()
	if err != nil {
		return err
	}
	if ignoresReadErrors(options) {
		return invalidOptions("DeleteOptions", field.ErrorList{field.Invalid(field.NewPath("ignoreStoreReadErrorWithClusterBreakingPotential"),
			true, "is not allowed with DELETECOLLECTION, try again after removing the option")})
	}
	page, err := c.handle.DeleteCollection(c.writing(len(options.DryRun) > 0), c.namespace, asRegistryDelete(options, form), asRegistryList(list))
	if err != nil {
		return err
	}
	defer page.Close()
	c.page(media, form, page)
	return nil
}

// ignoresReadErrors tells a deletion of what can't be read.
func ignoresReadErrors(options *metav1.DeleteOptions) bool {
	ignore := options.IgnoreStoreReadErrorWithClusterBreakingPotential
	return ignore != nil && *ignore
}

// deleteOptions reads the options from the body where there is one, else from the query; it doesn't mix the two. The
// resourceVersion in the query of a collection's deletion is that of the list alone: kube-apiserver takes it for a
// precondition, too, which hardly any object meets.
func (c *call) deleteOptions() (*metav1.DeleteOptions, error) {
	data, err := c.readBody()
	if err != nil {
		return nil, err
	}
	options := &metav1.DeleteOptions{}
	if len(data) > 0 {
		err = c.decodeDeleteOptions(data, options)
	} else if err = metav1.Convert_url_Values_To_v1_DeleteOptions(&c.query, options, nil); err != nil {
		err = apierrors.NewBadRequest(err.Error())
	} else if options.Preconditions != nil && c.info.Verb == "deletecollection" {
		options.Preconditions.ResourceVersion = nil
	}
	if err != nil {
		return nil, err
	}
	return options, invalidOptions("DeleteOptions", metavalidation.ValidateDeleteOptions(options))
}

// decodeDeleteOptions takes the kind DeleteOptions of any group, as kube-apiserver does: clients send it in the
// resource's own, or in that of a client that knows another. Nothing else is taken.
func (c *call) decodeDeleteOptions(data []byte, options *metav1.DeleteOptions) error {
	format, err := inputFormat(c.r, anyFormat)
	if err != nil {
		return err
	}
	switch format {
	case formatProtobuf:
		err = decodeProtobufOptions(data, options)
	case formatCBOR:
		data, err = cborToJSON(data)
	case formatYAML:
		data, _, err = yamlToJSON(data, metav1.FieldValidationIgnore, c.api.maxBody)
	}
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		return apierrors.NewBadRequest(syntax.text)
	}
	if err != nil {
		return err
	}
	if format != formatProtobuf {
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

func asRegistryDelete(options *metav1.DeleteOptions, form api.Form) api.DeleteOptions {
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

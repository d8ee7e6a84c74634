package endpoint

import (
	"context"
	"mime"
	"net/http"
	"strings"
	"time"

	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxWriteTime bounds the time of a write, as in kube-apiserver.
const maxWriteTime = 34 * time.Second

func (req *resourceRequest) writeContext(dryRun bool) context.Context {
	if dryRun {
		return reach.DryRun(req.r.Context())
	}
	return req.r.Context()
}

type change func(ctx context.Context, body verb.Body, options verb.WriteOptions) (verb.Result, error)

// create creates an object, and answers 201.
func (req *resourceRequest) create() error {
	return req.write(negotiation.ObjectTransform, "CreateOptions",
		func(ctx context.Context, body verb.Body, options verb.WriteOptions) (verb.Result, error) {
			return req.handle.Create(ctx, req.namespace, body, options)
		})
}

// update replaces an object, or creates it if its kind allows that.
func (req *resourceRequest) update() error {
	return req.write(negotiation.ObjectTransform, "UpdateOptions",
		func(ctx context.Context, body verb.Body, options verb.WriteOptions) (verb.Result, error) {
			name, subresource := req.requestInfo.Name, req.requestInfo.Subresource
			if req.extension != nil {
				return req.extension.handle.Update(ctx, req.namespace, name, body, options)
			}
			return req.handle.Update(ctx, req.namespace, name, subresource, body, options)
		})
}

// write reads an object from the body, and answers with the result of do. kind is the kind of its options.
func (req *resourceRequest) write(allow negotiation.AllowTransform, kind string, do change) error {
	accepted, err := req.negotiate(negotiation.Output, allow)
	if err != nil {
		return err
	}
	format, err := req.inputFormat()
	if err != nil {
		return err
	}
	options, validation, err := req.writeOptions(kind, func(o *metav1.PatchOptions) field.ErrorList {
		return metavalidation.ValidateUpdateOptions(&metav1.UpdateOptions{
			DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation,
		})
	})
	if err != nil {
		return err
	}
	data, warnings, err := req.readObject(format, validation)
	if err != nil {
		return err
	}
	body := verb.Body{
		Version: req.key, Encoding: format.Encoding(), Data: data, Validation: validation, Faults: req.faults,
	}
	req.auditBody(&body)
	return req.answer(accepted, body, options, warnings, do)
}

// answer calls do with a body. It answers 201 with an object that do created, and else 200.
func (req *resourceRequest) answer(
	accepted acceptance, body verb.Body, options verb.WriteOptions, warnings []string, do change,
) error {
	options.Form, options.DryRun = accepted.single(), options.DryRun || accepted.notAcceptable != nil
	if ask := req.api.mayCreate; ask != nil {
		options.MayCreate = func() error { return ask(req.r) }
	}
	ctx, cancel := context.WithTimeout(req.writeContext(options.DryRun), maxWriteTime)
	defer cancel()
	result, err := do(ctx, body, options)
	req.releaseBody()
	respond.AddWarnings(req.w.Header(), append(warnings, result.Warnings...))
	if err != nil {
		return err
	}
	code := http.StatusOK
	if result.Created {
		code = http.StatusCreated
	}
	return req.writeObject(accepted, code, result.Object)
}

// patchTypes is the table of patches. A new type of patch is a new row, and a type that a Handle applies.
var patchTypes = []struct {
	mediaType string
	kind      verb.PatchType
	format    negotiation.Format
}{
	{string(verb.JSONPatch), verb.JSONPatch, negotiation.JSON},
	{string(verb.MergePatch), verb.MergePatch, negotiation.JSON},
	{string(verb.StrategicPatch), verb.StrategicPatch, negotiation.JSON},
	{string(verb.ApplyPatch), verb.ApplyPatch, negotiation.YAML},
	{"application/apply-patch+cbor", verb.ApplyPatch, negotiation.CBOR},
}

func (req *resourceRequest) patch() error {
	kind, format, err := req.patchType()
	if err != nil {
		return err
	}
	accepted, err := req.negotiate(negotiation.Output, negotiation.ObjectTransform)
	if err != nil {
		return err
	}
	options, validation, err := req.writeOptions("PatchOptions", func(o *metav1.PatchOptions) field.ErrorList {
		return metavalidation.ValidatePatchOptions(o, types.PatchType(kind))
	})
	if err != nil {
		return err
	}
	data, warnings, err := req.readPatch(kind, format, validation)
	if err != nil {
		return err
	}
	req.auditPatch(data)
	do := func(ctx context.Context, body verb.Body, options verb.WriteOptions) (verb.Result, error) {
		name, subresource := req.requestInfo.Name, req.requestInfo.Subresource
		if req.extension != nil {
			return req.extension.handle.Patch(ctx, req.namespace, name, kind, body, options)
		}
		return req.handle.Patch(ctx, req.namespace, name, subresource, kind, body, options)
	}
	body := verb.Body{Version: req.key, Data: data, Validation: validation}
	return req.answer(accepted, body, options, warnings, do)
}

// readPatch reads a patch, and converts it to JSON. An apply patch is YAML, of which JSON is a part, or CBOR.
func (req *resourceRequest) readPatch(
	kind verb.PatchType, f negotiation.Format, validation string,
) (data []byte, warnings []string, err error) {
	switch {
	case f == negotiation.CBOR:
		if data, err = req.readBody(); err == nil && len(data) > 0 {
			data, err = cborToJSON(data)
		}
	case kind == verb.ApplyPatch:
		data, warnings, err = req.readApply(validation)
	default:
		data, _, err = req.readObject(negotiation.JSON, validation)
	}
	return data, warnings, err
}

// patchType returns the type of the patch in the body, and its format. A body without a Content-Type has none.
func (req *resourceRequest) patchType() (verb.PatchType, negotiation.Format, error) {
	mediaType, _, err := mime.ParseMediaType(req.r.Header.Get("Content-Type"))
	var accepted []string
	for _, known := range patchTypes {
		if known.kind == verb.StrategicPatch && req.version.Untyped {
			continue
		}
		if err == nil && strings.EqualFold(mediaType, known.mediaType) {
			return known.kind, known.format, nil
		}
		accepted = append(accepted, known.mediaType)
	}
	return "", 0, negotiation.UnsupportedMediaType(accepted...)
}

package endpoint

import (
	"context"
	"mime"
	"net/http"
	"strings"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/negotiation"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/respond"
)

// maxWriteTime bounds the time of a write, as in kube-apiserver.
const maxWriteTime = 34 * time.Second

// writeContext returns the context of a write.
func (req *resourceRequest) writeContext(dryRun bool) context.Context {
	if dryRun {
		return reach.DryRun(req.r.Context())
	}
	return req.r.Context()
}

// change is an operation of a handle that takes a body.
type change func(ctx context.Context, body api.Body, options api.WriteOptions) (api.Result, error)

// create creates an object, and answers 201.
func (req *resourceRequest) create() error {
	return req.write(negotiation.ObjectTransform, req.createOptions,
		func(ctx context.Context, body api.Body, options api.WriteOptions) (api.Result, error) {
			return req.handle.Create(ctx, req.namespace, body, options)
		})
}

// update replaces an object, or creates it if its kind allows that.
func (req *resourceRequest) update() error {
	return req.write(negotiation.ObjectTransform, req.updateOptions,
		func(ctx context.Context, body api.Body, options api.WriteOptions) (api.Result, error) {
			name, subresource := req.requestInfo.Name, req.requestInfo.Subresource
			if req.extension != nil {
				return req.extension.handle.Update(ctx, req.namespace, name, body, options)
			}
			return req.handle.Update(ctx, req.namespace, name, subresource, body, options)
		})
}

// write reads an object from the body, and answers with the result of do.
func (req *resourceRequest) write(
	allow negotiation.AllowTransform, read func(api.Form) (api.WriteOptions, string, error), do change,
) error {
	media, form, notAcceptable := req.negotiate(allow)
	if notAcceptable != nil && !req.misfits(notAcceptable) {
		return notAcceptable
	}
	format, err := req.inputFormat()
	if err != nil {
		return err
	}
	options, validation, err := read(form)
	if err != nil {
		return err
	}
	data, warnings, err := req.readObject(format, validation)
	if err != nil {
		return err
	}
	if notAcceptable != nil {
		options.DryRun, do = true, refuse(do, notAcceptable)
	}
	return req.answer(media, req.body(format, data, validation), options, warnings, do)
}

// refuse returns a change that makes a dry run of do, and then fails with notAcceptable. The server doesn't write if it
// can't give the answer, but an error of the write comes first, as in kube-apiserver.
func refuse(do change, notAcceptable error) change {
	return func(ctx context.Context, body api.Body, options api.WriteOptions) (api.Result, error) {
		result, err := do(ctx, body, options)
		if err == nil {
			err = notAcceptable
		}
		return api.Result{Warnings: result.Warnings}, err
	}
}

// answer calls do with a body. It answers 201 with an object that do created, and else 200.
func (req *resourceRequest) answer(
	media negotiation.MediaType, body api.Body, options api.WriteOptions, warnings []string, do change,
) error {
	ctx, cancel := context.WithTimeout(req.writeContext(options.DryRun), maxWriteTime)
	defer cancel()
	result, err := do(ctx, body, options)
	respond.AddWarnings(req.w.Header(), append(warnings, result.Warnings...))
	if err != nil {
		return err
	}
	code := http.StatusOK
	if result.Created {
		code = http.StatusCreated
	}
	req.writeObject(media, code, options.Form, result.Object)
	return nil
}

// patchTypes is the table of patches. A new type of patch is a new row, and a type that a Handle applies.
var patchTypes = []struct {
	mediaType string
	kind      api.PatchType
	format    negotiation.Format
}{
	{string(api.JSONPatch), api.JSONPatch, negotiation.JSON},
	{string(api.MergePatch), api.MergePatch, negotiation.JSON},
	{string(api.StrategicPatch), api.StrategicPatch, negotiation.JSON},
	{string(api.ApplyPatch), api.ApplyPatch, negotiation.YAML},
	{"application/apply-patch+cbor", api.ApplyPatch, negotiation.CBOR},
}

// patch applies a patch to an object.
func (req *resourceRequest) patch() error {
	kind, format, err := patchType(req.r)
	if err != nil {
		return err
	}
	media, form, notAcceptable := req.negotiate(negotiation.ObjectTransform)
	if notAcceptable != nil && !req.misfits(notAcceptable) {
		return notAcceptable
	}
	options, validation, err := req.patchOptions(kind, form)
	if err != nil {
		return err
	}
	data, warnings, err := req.readPatch(kind, format, validation)
	if err != nil {
		return err
	}
	do := func(ctx context.Context, body api.Body, options api.WriteOptions) (api.Result, error) {
		name, subresource := req.requestInfo.Name, req.requestInfo.Subresource
		if req.extension != nil {
			return req.extension.handle.Patch(ctx, req.namespace, name, kind, body, options)
		}
		return req.handle.Patch(ctx, req.namespace, name, subresource, kind, body, options)
	}
	if notAcceptable != nil {
		options.DryRun, do = true, refuse(do, notAcceptable)
	}
	body := api.Body{Version: req.version.Name, Data: data, Validation: validation}
	return req.answer(media, body, options, warnings, do)
}

// readPatch reads a patch, and converts it to JSON. An apply patch is YAML, of which JSON is a part, or CBOR.
func (req *resourceRequest) readPatch(
	kind api.PatchType, f negotiation.Format, validation string,
) (data []byte, warnings []string, err error) {
	switch {
	case f == negotiation.CBOR:
		if data, err = req.readBody(); err == nil && len(data) > 0 {
			data, err = cborToJSON(data)
		}
	case kind == api.ApplyPatch:
		data, warnings, err = req.readApply(validation)
	default:
		data, _, err = req.readObject(negotiation.JSON, validation)
	}
	return data, warnings, err
}

// patchType returns the type of the patch in the body, and its format. A body without a Content-Type has none.
func patchType(r *http.Request) (api.PatchType, negotiation.Format, error) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	accepted := make([]string, len(patchTypes))
	for i, known := range patchTypes {
		if err == nil && strings.EqualFold(mediaType, known.mediaType) {
			return known.kind, known.format, nil
		}
		accepted[i] = known.mediaType
	}
	return "", 0, negotiation.UnsupportedMediaType(accepted...)
}

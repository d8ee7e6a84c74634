package endpoint

import (
	"context"
	"mime"
	"net/http"
	"strings"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/reach"
)

// maxWriteTime bounds a write, as kube-apiserver does.
const maxWriteTime = 34 * time.Second

// writing is the context of a write.
func (c *call) writing(dryRun bool) context.Context {
	if dryRun {
		return reach.DryRun(c.r.Context())
	}
	return c.r.Context()
}

// change is what a handle makes of a body.
type change func(ctx context.Context, body api.Body, options api.WriteOptions) (api.Result, error)

// create makes an object: 201.
func (c *call) create() error {
	return c.write(singleTransform, c.createOptions, func(ctx context.Context, body api.Body, options api.WriteOptions) (api.Result, error) {
		return c.handle.Create(ctx, c.namespace, body, options)
	})
}

// update replaces an object, or creates it where its kind allows that.
func (c *call) update() error {
	return c.write(singleTransform, c.updateOptions, func(ctx context.Context, body api.Body, options api.WriteOptions) (api.Result, error) {
		if c.extension != nil {
			return c.extension.handle.Update(ctx, c.namespace, c.info.Name, body, options)
		}
		return c.handle.Update(ctx, c.namespace, c.info.Name, c.info.Subresource, body, options)
	})
}

// write reads an object, and answers with what is made of it.
func (c *call) write(allow allowTransform, read func(api.Form) (api.WriteOptions, string, error), do change) error {
	media, form, err := c.negotiate(allow)
	if err != nil {
		return err
	}
	format, err := c.inputFormat()
	if err != nil {
		return err
	}
	options, validation, err := read(form)
	if err != nil {
		return err
	}
	data, warnings, err := c.readObject(format, validation)
	if err != nil {
		return err
	}
	return c.answer(media, c.body(format, data, validation), options, warnings, do)
}

// answer does what a body asks for: 201 with what was created, 200 with what was there.
func (c *call) answer(media mediaType, body api.Body, options api.WriteOptions, warnings []string, do change) error {
	ctx, cancel := context.WithTimeout(c.writing(options.DryRun), maxWriteTime)
	defer cancel()
	result, err := do(ctx, body, options)
	addWarnings(c.w.Header(), append(warnings, result.Warnings...))
	if err != nil {
		return err
	}
	code := http.StatusOK
	if result.Created {
		code = http.StatusCreated
	}
	c.object(media, code, options.Form, result.Object)
	return nil
}

// patchTypes are the patches that are taken. One more is one more row, and a type that a Handle applies.
var patchTypes = []struct {
	mediaType string
	kind      api.PatchType
	format    format
}{
	{string(api.JSONPatch), api.JSONPatch, formatJSON},
	{string(api.MergePatch), api.MergePatch, formatJSON},
	{string(api.StrategicPatch), api.StrategicPatch, formatJSON},
	{string(api.ApplyPatch), api.ApplyPatch, formatYAML},
	{"application/apply-patch+cbor", api.ApplyPatch, formatCBOR},
}

// patch changes an object.
func (c *call) patch() error {
	kind, format, err := patchType(c.r)
	if err != nil {
		return err
	}
	media, form, err := c.negotiate(singleTransform)
	if err != nil {
		return err
	}
	options, validation, err := c.patchOptions(kind, form)
	if err != nil {
		return err
	}
	data, warnings, err := c.readPatch(kind, format, validation)
	if err != nil {
		return err
	}
	body := api.Body{Version: c.version.Name, Data: data, Validation: validation}
	return c.answer(media, body, options, warnings, func(ctx context.Context, body api.Body, options api.WriteOptions) (api.Result, error) {
		if c.extension != nil {
			return c.extension.handle.Patch(ctx, c.namespace, c.info.Name, kind, body, options)
		}
		return c.handle.Patch(ctx, c.namespace, c.info.Name, c.info.Subresource, kind, body, options)
	})
}

// readPatch reads a patch as JSON. What is applied is YAML, of which JSON is a part, or CBOR.
func (c *call) readPatch(kind api.PatchType, f format, validation string) (data []byte, warnings []string, err error) {
	switch {
	case f == formatCBOR:
		if data, err = c.readBody(); err == nil && len(data) > 0 {
			data, err = cborToJSON(data)
		}
	case kind == api.ApplyPatch:
		data, warnings, err = c.readApply(validation)
	default:
		data, _, err = c.readObject(formatJSON, validation)
	}
	return data, warnings, err
}

// patchType is the kind of patch that the body is, and its format. There is no default.
func patchType(r *http.Request) (api.PatchType, format, error) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	accepted := make([]string, len(patchTypes))
	for i, known := range patchTypes {
		if err == nil && strings.EqualFold(mediaType, known.mediaType) {
			return known.kind, known.format, nil
		}
		accepted[i] = known.mediaType
	}
	return "", 0, unsupportedMediaType(accepted...)
}

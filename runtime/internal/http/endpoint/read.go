package endpoint

import (
	"net/http"

	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/verb"
)

// manyItems is how many items a list has that probably fills a frame.
const manyItems = 64

// get answers with one object. A subresource that is a part of the object is answered with the whole object.
func (req *resourceRequest) get() error {
	accepted, err := req.negotiate(negotiation.Output, negotiation.ObjectTransform)
	if err != nil {
		return err
	}
	options, err := req.getOptions()
	if err != nil {
		return err
	}
	object, err := req.read(options.ResourceVersion, accepted.single())
	if err != nil {
		return err
	}
	return req.writeObject(accepted, http.StatusOK, object)
}

// read reads the object, or the view of it that an extension returns.
func (req *resourceRequest) read(resourceVersion string, form verb.Form) (verb.Rendition, error) {
	ctx, name := req.r.Context(), req.requestInfo.Name
	switch {
	case req.extension == nil:
		return req.handle.Get(ctx, req.namespace, name, resourceVersion, form)
	case req.extension.handle.View != nil:
		return req.extension.handle.View(ctx, req.namespace, name, req.query, form)
	}
	return req.extension.handle.Get(ctx, req.namespace, name, resourceVersion, form)
}

// claiming has what a list takes counted as the request's.
func (req *resourceRequest) claiming(options verb.ListOptions) verb.ListOptions {
	if claim := req.memory(); claim != nil {
		options.Memory = claim
	}
	return options
}

func (req *resourceRequest) list() error {
	accepted, err := req.negotiate(negotiation.Output, negotiation.ListTransform)
	if err != nil {
		return err
	}
	options, err := req.listOptions()
	if err != nil {
		return err
	}
	listOptions := req.claiming(apiListOptions(options))
	listOptions.Compress = req.compresses(accepted.media)
	page, err := req.handle.List(req.r.Context(), req.namespace, listOptions, accepted.form)
	if err != nil {
		return err
	}
	defer page.Close()
	if page.Len >= manyItems {
		if err := req.claim.Hold(frameSize); err != nil {
			return err
		}
	}
	return req.writePage(accepted, page)
}

package endpoint

import (
	"net/http"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/negotiation"
)

// get answers with one object. A subresource that is a part of the object is answered with the whole object.
func (req *resourceRequest) get() error {
	media, form, notAcceptable := req.negotiate(negotiation.ObjectTransform)
	if notAcceptable != nil && !req.misfits(notAcceptable) {
		return notAcceptable
	}
	options, err := req.getOptions()
	if err != nil {
		return err
	}
	object, err := req.read(options.ResourceVersion, form)
	if err != nil {
		return err
	}
	if notAcceptable != nil {
		return notAcceptable
	}
	req.writeObject(media, http.StatusOK, form, object)
	return nil
}

// read reads the object, or the view of it that an extension returns.
func (req *resourceRequest) read(resourceVersion string, form api.Form) (api.Rendition, error) {
	ctx, name := req.r.Context(), req.requestInfo.Name
	switch {
	case req.extension == nil:
		return req.handle.Get(ctx, req.namespace, name, resourceVersion, form)
	case req.extension.handle.View != nil:
		return req.extension.handle.View(ctx, req.namespace, name, req.query, form)
	}
	return req.extension.handle.Get(ctx, req.namespace, name, resourceVersion, form)
}

// list answers with one page of a list.
func (req *resourceRequest) list() error {
	media, form, notAcceptable := req.negotiate(negotiation.ListTransform)
	if notAcceptable != nil && !req.misfits(notAcceptable) {
		return notAcceptable
	}
	options, err := req.listOptions()
	if err != nil {
		return err
	}
	page, err := req.handle.List(req.r.Context(), req.namespace, apiListOptions(options), form)
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

package endpoint

import (
	"net/http"
	"time"

	"apigen.dev/runtime/api"
)

// get answers with one object; a subresource that is a subset of the object's fields shows the whole of it.
func (c *call) get() error {
	media, form, notAcceptable := c.negotiate(singleTransform)
	if notAcceptable != nil && !c.misfits(notAcceptable) {
		return notAcceptable
	}
	options, err := c.getOptions()
	if err != nil {
		return err
	}
	object, err := c.read(options.ResourceVersion, form)
	if err != nil {
		return err
	}
	if notAcceptable != nil {
		return notAcceptable
	}
	c.object(media, http.StatusOK, form, object)
	return nil
}

// read gets the object, or what an extension shows of it.
func (c *call) read(resourceVersion string, form api.Form) (api.Rendition, error) {
	ctx, name := c.r.Context(), c.info.Name
	switch {
	case c.extension == nil:
		return c.handle.Get(ctx, c.namespace, name, resourceVersion, form)
	case c.extension.handle.View != nil:
		return c.extension.handle.View(ctx, c.namespace, name, c.query, form)
	}
	return c.extension.handle.Get(ctx, c.namespace, name, resourceVersion, form)
}

// list answers with one page.
func (c *call) list() error {
	media, form, notAcceptable := c.negotiate(listTransform)
	if notAcceptable != nil && !c.misfits(notAcceptable) {
		return notAcceptable
	}
	options, err := c.listOptions()
	if err != nil {
		return err
	}
	page, err := c.handle.List(c.r.Context(), c.namespace, asRegistryList(options), form)
	if err != nil {
		return err
	}
	defer page.Close()
	if notAcceptable != nil {
		return notAcceptable
	}
	c.page(media, form, page)
	return nil
}

// object writes one object.
func (c *call) object(media mediaType, code int, form api.Form, object api.Rendition) {
	fill := func(f *frame) { encoders[form.Encoding].object(f, c.resource, form.Shape, &object, time.Now()) }
	if media.format == formatYAML {
		c.respondYAML(code, fill)
		return
	}
	c.respond(media, code, fill)
}

// page writes a list. What it holds in memory does not depend on the number of items.
func (c *call) page(media mediaType, form api.Form, page *api.Page) {
	if media.format == formatYAML {
		c.pageYAML(form.Shape, page)
		return
	}
	c.respond(media, http.StatusOK, func(f *frame) {
		encoders[form.Encoding].page(f, c.resource, form.Shape, page, time.Now())
	})
}

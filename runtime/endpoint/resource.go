package endpoint

import (
	"net/http"
	"net/url"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/encoder"
	"apigen.dev/runtime/negotiation"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/request"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apivalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type resourceKey struct{ group, version, plural string }

// resource is a resource, or an extension of one, in one served version.
type resource struct {
	handle       registry.Handle
	resourceInfo *api.Info
	version      *api.VersionInfo
	// heads are the beginnings of its answers.
	heads *encoder.Heads
	// extensions are the extensions of the resource, by name.
	extensions map[string]*resource
	// extension is nil for a resource.
	extension *extension
}

func newResource(handle registry.Handle, version *api.VersionInfo) *resource {
	info := handle.Info()
	apiVersion := schema.GroupVersion{Group: info.Group, Version: version.Name}.String()
	r := &resource{
		handle:       handle,
		resourceInfo: info,
		version:      version,
		heads:        encoder.NewHeads(info.Names.ListKind, apiVersion, version.Columns),
	}
	r.addExtensions()
	return r
}

// resourceRequest is one request for a resource, after routing.
type resourceRequest struct {
	*resource
	api         *API
	requestInfo *request.Info
	// namespace is "" for cluster-scoped resources. It is "" for a namespace, too, although its request.Info has one.
	namespace string
	w         http.ResponseWriter
	r         *http.Request
	query     url.Values
	// faults are the faults in the text of the body that strict validation refuses.
	faults []error
	// reserved is how many bytes the body takes of API.bodies.
	reserved int64
}

// form returns the form of the objects in the answer.
func (req *resourceRequest) form(media negotiation.MediaType) (api.Form, error) {
	form := api.Form{Version: req.version.Name, Shape: media.As.Shape(), Encoding: media.Format.Encoding()}
	if form.Shape.Plain() != api.RowWithMetadata {
		return form, nil
	}
	old := form.Shape & api.V1beta1
	var options metav1.TableOptions
	if values := req.query["includeObject"]; len(values) > 0 {
		options.IncludeObject = metav1.IncludeObjectPolicy(values[0])
	}
	if errs := apivalidation.ValidateTableOptions(&options); len(errs) > 0 {
		return form, apierrors.NewBadRequest("Unable to convert to Table as requested: " + errs.ToAggregate().Error())
	}
	switch options.IncludeObject {
	case metav1.IncludeNone:
		form.Shape = api.Row | old
	case metav1.IncludeObject:
		form.Shape = api.RowWithObject | old
	}
	return form, nil
}

// negotiate returns the media type of the answer and the form of its objects.
func (req *resourceRequest) negotiate(allow negotiation.AllowTransform) (negotiation.MediaType, api.Form, error) {
	media, err := negotiation.Output(req.r, req.formats(allow))
	if err != nil {
		return media, api.Form{Version: req.version.Name}, err
	}
	form, err := req.form(media)
	return media, form, err
}

// misfits tells whether a request is not acceptable only because the client asks for a form of another answer: a list
// of one object, say, or a watch in YAML. kube-apiserver refuses such a request when it has the answer, so that other
// errors come first.
func (req *resourceRequest) misfits(err error) bool {
	if err == nil || !apierrors.IsNotAcceptable(err) {
		return false
	}
	_, err = negotiation.Output(req.r, req.formats(negotiation.WatchTransform))
	return err == nil
}

// formats returns the formats of the resource's objects, and of what they can be transformed into.
func (req *resourceRequest) formats(allow negotiation.AllowTransform) negotiation.AllowFormat {
	return func(f negotiation.Format, as negotiation.Transform) bool {
		if as == (negotiation.Transform{}) {
			return f != negotiation.Protobuf || req.version.Protobuf
		}
		return allow(as) && negotiation.HasTransform(f, as)
	}
}

// inputFormat returns the format of a body that is an object of the resource, or of the kind that an extension takes.
func (req *resourceRequest) inputFormat() (negotiation.Format, error) {
	protobuf := req.version.Protobuf
	if req.extension != nil {
		protobuf = req.extension.TakesProtobuf
	}
	return negotiation.Input(req.r, func(f negotiation.Format, as negotiation.Transform) bool {
		return as == negotiation.Transform{} && (f != negotiation.Protobuf || protobuf)
	})
}

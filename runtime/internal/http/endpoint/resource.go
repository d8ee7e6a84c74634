package endpoint

import (
	"net/http"
	"net/url"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/http/headroom"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apivalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type resourceKey struct{ group, version, plural string }

// resource is a resource, or an extension of one, in one served version.
type resource struct {
	handle       verb.Handle
	resourceInfo *verb.Info
	version      *api.VersionInfo
	key          string // of the version: see verb.Info.Key
	// heads are the beginnings of its answers.
	heads *encoder.Heads
	// extensions are the extensions of the resource, by name.
	extensions map[string]*resource
	// extension is nil for a resource.
	extension *extension
}

func newResource(handle verb.Handle, version *api.VersionInfo) *resource {
	info := handle.Info()
	apiVersion := schema.GroupVersion{Group: info.Group, Version: version.Name}.String()
	r := &resource{
		handle: handle, resourceInfo: info, version: version, key: info.Key(version.Name),
		heads: encoder.NewHeads(info.Names.ListKind, apiVersion, version.Columns),
	}
	if version.Untyped {
		r.heads = r.heads.WithItemHeads()
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
	// reserved is how many bytes the body took of API.bodies, and release gives them back.
	reserved int64
	release  func()
	// claim is what the request holds of the server's memory; nil until memory makes it.
	claim *headroom.Claim
}

func (req *resourceRequest) form(media negotiation.MediaType) (verb.Form, error) {
	form := verb.Form{Version: req.key, Shape: media.As.Shape(), Encoding: media.Format.Encoding()}
	if form.Shape.Plain() != verb.RowWithMetadata {
		return form, nil
	}
	old := form.Shape & verb.V1beta1
	var options metav1.TableOptions
	if values := req.query["includeObject"]; len(values) > 0 {
		options.IncludeObject = metav1.IncludeObjectPolicy(values[0])
	}
	if errs := apivalidation.ValidateTableOptions(&options); len(errs) > 0 {
		return form, apierrors.NewBadRequest("Unable to convert to Table as requested: " + errs.ToAggregate().Error())
	}
	switch options.IncludeObject {
	case metav1.IncludeNone:
		form.Shape = verb.Row | old
	case metav1.IncludeObject:
		form.Shape = verb.RowWithObject | old
	}
	return form, nil
}

// acceptance is how a client accepts the answer.
type acceptance struct {
	media negotiation.MediaType
	form  verb.Form // of the objects in the answer
	// notAcceptable is the error 406 for a client that asks for a form of another answer: a list of one object, say, or
	// a watch in YAML. As in kube-apiserver, other errors come first: the server only does a dry run of a write, and
	// answers with notAcceptable when it has the answer.
	notAcceptable error
}

// single returns the form to ask for where the answer has one object: a Table has the object's resourceVersion, which a
// row without an object doesn't tell. The encoder leaves the object out.
func (a acceptance) single() verb.Form {
	form := a.form
	if form.Shape.Plain() == verb.Row {
		form.Shape = verb.RowWithMetadata | form.Shape&verb.V1beta1
	}
	return form
}

// negotiate returns how the client accepts the answer. output is negotiation.Output or negotiation.StreamOutput.
func (req *resourceRequest) negotiate(
	output func(*http.Request, negotiation.AllowFormat) (negotiation.MediaType, error),
	allow negotiation.AllowTransform,
) (accepted acceptance, err error) {
	accepted.media, accepted.notAcceptable = output(req.r, req.formats(allow))
	if accepted.notAcceptable != nil {
		if _, err := negotiation.Output(req.r, req.formats(negotiation.WatchTransform)); err != nil {
			return accepted, accepted.notAcceptable
		}
	}
	accepted.form, err = req.form(accepted.media)
	return accepted, err
}

// formats returns the formats of the resource's objects, and of what they can be transformed into.
func (req *resourceRequest) formats(allow negotiation.AllowTransform) negotiation.AllowFormat {
	return func(f negotiation.Format, as negotiation.Transform) bool {
		if as == (negotiation.Transform{}) {
			return f != negotiation.Protobuf || req.version.Protobuf
		}
		return allow(as) && negotiation.HasTransform(f, as) && (as.Kind != "Table" || req.hasTable())
	}
}

// hasTable reports whether the resource has a Table. A kind that is only created, such as a review, has none unless it
// declares columns, as in kube-apiserver.
func (req *resourceRequest) hasTable() bool {
	return len(req.version.Columns) > 0 || req.resourceInfo.Has("get") || req.resourceInfo.Has("list")
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

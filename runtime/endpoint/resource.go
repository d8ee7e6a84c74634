package endpoint

import (
	"encoding/json"
	"net/http"
	"net/url"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apivalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type resourceKey struct{ group, version, plural string }

// resource is one resource in one served version, with what its answers begin with.
type resource struct {
	handle  registry.Handle
	info    *api.Info
	version *api.VersionInfo
	// listHead opens a list, through the brace of its metadata.
	listHead string
	// columns is the value of a Table's columnDefinitions.
	columns string
	// extensions are those of the resource, extension is what this one is itself.
	extensions map[string]*resource
	extension  *extended
	// heads are what answers in other encodings than JSON begin with.
	heads resourceHeads
}

func newResource(handle registry.Handle, version *api.VersionInfo) *resource {
	info := handle.Info()
	gv := schema.GroupVersion{Group: info.Group, Version: version.Name}
	r := &resource{
		handle:   handle,
		info:     info,
		version:  version,
		listHead: `{"kind":` + quoted(info.Names.ListKind) + `,"apiVersion":` + quoted(gv.String()) + `,"metadata":{`,
		columns:  columnDefinitions(version.Columns),
		heads:    newResourceHeads(info.Names.ListKind, gv.String(), version.Columns),
	}
	r.extend()
	return r
}

// quoted is s as a JSON string.
func quoted(s string) string {
	data, _ := json.Marshal(s) // a string can always be encoded
	return string(data)
}

// call is one request for a resource, routed.
type call struct {
	*resource
	api  *API
	info *RequestInfo
	// namespace is "" for cluster-scoped resources, also for namespaces themselves, whose RequestInfo has one.
	namespace string
	w         http.ResponseWriter
	r         *http.Request
	query     url.Values
	// faults are those that were found in the body's text.
	faults []error
	// weight is what the body counts for in API.bodies.
	weight int64
}

// form is the form of the answer's objects.
func (c *call) form(media mediaType) (api.Form, error) {
	form := api.Form{Version: c.version.Name, Shape: shapes[media.as], Encoding: formats[media.format].encoding}
	if form.Shape.Plain() != api.RowWithMetadata {
		return form, nil
	}
	old := form.Shape & api.V1beta1
	var options metav1.TableOptions
	if values := c.query["includeObject"]; len(values) > 0 {
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

// negotiate finds out how the answer is wanted.
func (c *call) negotiate(allow allowTransform) (mediaType, api.Form, error) {
	media, err := negotiate(c.r, c.formats(allow))
	if err != nil {
		return media, api.Form{Version: c.version.Name}, err
	}
	form, err := c.form(media)
	return media, form, err
}

// misfits tells whether a read is not acceptable only because the client asks for a form of another answer: a list of
// one object, say, or a watch in YAML. kube-apiserver refuses such a read when it has the answer, so that other errors
// come first. A write is refused at once: the server doesn't write where it can't give the answer.
func (c *call) misfits(err error) bool {
	if err == nil || !apierrors.IsNotAcceptable(err) {
		return false
	}
	_, err = negotiate(c.r, c.formats(watchTransform))
	return err == nil
}

// formats are those of the resource's objects, and of what can be made of them.
func (c *call) formats(allow allowTransform) allowFormat {
	return func(f format, as transform) bool {
		if as == (transform{}) {
			return f != formatProtobuf || c.version.Protobuf
		}
		return allow(as) && madeOf(f, as)
	}
}

// inputFormat is the format of a body that is an object of the resource, or what its extension takes.
func (c *call) inputFormat() (format, error) {
	protobuf := c.version.Protobuf
	if c.extension != nil {
		protobuf = c.extension.TakesProtobuf
	}
	return inputFormat(c.r, func(f format, as transform) bool {
		return as == transform{} && (f != formatProtobuf || protobuf)
	})
}

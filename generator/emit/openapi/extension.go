package openapi

import (
	"cmp"
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// extensionPaths adds the paths of the subresources other than status.
func (e endpoint) extensionPaths(item string, out object) {
	parameters := e.params(e.name(), e.namespace(), e.pretty())
	for _, s := range e.resource.Subresources {
		at := item + "/" + s.Name
		switch s.Form {
		case model.FieldSubresource:
			e.add(out, at, parameters, e.whole(s.Name))
		case model.ScaleSubresource:
			scale := e
			scale.object = e.scaleRef()
			operations := object{"parameters": parameters}
			for verb, operation := range scale.whole(s.Name) {
				operations[methods[verb]] = withKind(operation(), scaleGVK())
			}
			out[at] = operations
		case model.ActionSubresource, model.RequestSubresource, model.RemovalSubresource:
			out[at] = object{"post": e.action(s), "parameters": e.params(e.writeParameters(), parameters)}
		case model.ViewSubresource:
			view := e
			view.object = e.payloadRef(s.Answer)
			kind := object{"group": s.Answer.Group, "version": s.Answer.At(e.version.Name).Name, "kind": s.Answer.Kind}
			out[at] = e.readOnly(withKind(view.read(s.Name), kind), parameters, s.Options)
		case model.StreamSubresource:
			read := e.read(s.Name)
			read["responses"] = texts(cmp.Or(s.ContentType, "text/plain"))
			out[at] = e.readOnly(read, parameters, s.Options)
		case model.ConnectSubresource:
			e.connectionPaths(at, s, out)
		}
	}
}

// readOnly returns a path with a GET alone, with the query parameters of an options type.
func (e endpoint) readOnly(read object, parameters []object, options *model.Type) object {
	return object{"get": read, "parameters": e.params(parameters, e.optionQueries(options, ""))}
}

// withKind sets the kind of an operation where it differs from the resource's.
func withKind(operation, gvk object) object {
	operation["x-kubernetes-group-version-kind"] = gvk
	return operation
}

func (e endpoint) action(s *model.Subresource) object {
	answer := e.metaRef("Status")
	if s.Answer != nil {
		answer = e.payloadRef(s.Answer)
	}
	o := e.operation(e.id("create", "", idName(s)), "post",
		"create "+s.Name+" of "+article(e.resource.Kind), responses(answer, false, "200", "201", "202"))
	o["requestBody"] = body(e.payloadRef(s.Body), jsonType, yamlType)
	return withKind(o, object{"group": s.Body.Group, "version": s.Body.At(e.version.Name).Name, "kind": s.Body.Kind})
}

func (e endpoint) payloadRef(p *model.Payload) object {
	v := p.At(e.version.Name)
	if e.kinds[v.Type] == "" {
		e.payloads[v.Type] = object{"group": p.Group, "version": v.Name, "kind": p.Kind}
	}
	return e.ref(v.Type)
}

// connectionPaths adds the paths of a subresource that serves connections, and of the paths below it.
func (e endpoint) connectionPaths(at string, s *model.Subresource, out object) {
	operations := func(suffix string) object {
		o := object{}
		for _, method := range s.Methods {
			verb := strings.ToLower(method)
			connect := e.operation(e.id("connect", upperFirst(verb), idName(s)+suffix), "connect",
				"connect "+method+" requests to "+s.Name+" of "+e.resource.Kind, texts("*/*"))
			o[verb] = connect
		}
		return o
	}
	parameters := func(path []object, without string) []object {
		return e.params(e.name(), e.namespace(), path, e.optionQueries(s.Options, without))
	}
	whole := operations("")
	whole["parameters"] = parameters(nil, "")
	out[at] = whole
	if s.Subpath {
		below := operations("WithPath")
		below["parameters"] = parameters([]object{inPath("path", "path below the subresource")}, "path")
		out[at+"/{path}"] = below
	}
}

// texts returns the responses of an operation that answers with text.
func texts(contentType string) object {
	return object{
		"200": object{"description": "OK", "content": object{contentType: object{"schema": object{"type": "string"}}}},
		"401": object{"description": "Unauthorized"},
	}
}

// optionQueries returns the query parameters for the fields of an options type, except one. It leaves out the fields of
// metav1's options, which are not the subresource's.
func (e endpoint) optionQueries(t *model.Type, without string) (out []object) {
	for _, f := range t.Fields {
		inner := f.Type.Pointee()
		inlined := f.Inline && inner.Form == model.Struct
		switch {
		case f.Ignored || !f.Exported || f.JSON == without && without != "":
		case inlined && inner.Package != nil && inner.Package.Path == schema.MetaPath:
		case inlined:
			out = append(out, e.optionQueries(inner, without)...)
		default:
			out = append(out, query(f.JSON, optionType(f.Type), description(f.Doc)))
		}
	}
	return out
}

// optionType returns the JSON type of one value of a query parameter.
func optionType(t *model.Type) string {
	t = t.Pointee()
	if t.Form == model.Slice && t.Package == nil {
		t = t.Elem
	}
	if t.Form != model.Basic {
		return "string"
	}
	return string(schema.Basics[t.Basic].JSON)
}

// idName returns the name of a subresource in the ids of operations.
func idName(s *model.Subresource) string { return upperFirst(camel(strings.Split(s.Name, "-"))) }

package trial

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/custom/dynamic"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// Pair is a kind that is served twice: by its Go type, and by its definition.
type Pair struct {
	testing.TB
	// Typed and Custom are the resources.
	Typed, Custom verb.Handle
	// APIVersion, Kind, version and namespace are those of its objects. A kind of the core group, which can't have a
	// definition, has one of another group: typedVersion is the apiVersion of the type's own.
	APIVersion, Kind, version, namespace, typedVersion string

	schema *apiextensionsv1.JSONSchemaProps
	random *generator
	status bool // there is a subresource
	// See Trial.
	native, nullIsAbsent bool
	// differs has the names of objects that were stored in different forms, which changes who manages fields later.
	differs map[string]bool
	// Both resources accepted so many of so many objects, and status.
	accepted, written, acceptedStatus, writtenStatus int
}

// NewPair serves a kind twice.
func NewPair(t testing.TB, tr Trial) *Pair {
	t.Helper()
	crd, v := tr.definition(t)
	kind, err := dynamic.New(crd, nil, template(t, tr.Group.OpenAPI[v.Name]))
	if err != nil {
		t.Fatal(err)
	}
	info, custom := tr.Resource.Info(), registry.Group{Name: crd.Spec.Group, OpenAPI: kind.OpenAPI}
	p := &Pair{
		TB: t, Typed: Open(t, tr.Group, tr.Resource), Custom: Open(t, custom, kind.Resource),
		APIVersion: crd.Spec.Group + "/" + v.Name, Kind: info.Names.Kind, version: v.Name,
		typedVersion: (schema.GroupVersion{Group: tr.Group.Name, Version: v.Name}).String(),
		schema:       v.Schema.OpenAPIV3Schema, status: v.Subresources != nil && v.Subresources.Status != nil,
		native: tr.Native, nullIsAbsent: tr.NullIsAbsent, differs: map[string]bool{},
	}
	if info.Scope == api.Namespaced {
		p.namespace = "ns"
	}
	return p
}

// template returns what the document of a definition is made of beside its schema, by which managers have fields: the
// schemas of metadata, which the document of the type has, too.
func template(t testing.TB, document api.Document) dynamic.Template {
	t.Helper()
	var parts map[string]any
	data, err := document.JSON()
	if err == nil {
		err = json.Unmarshal(data, &parts)
	}
	if err != nil {
		t.Fatal(err)
	}
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	none := struct{}{}
	parts["paths"] = map[string]any{path: none, path + "/{name}": none, path + "/{name}/status": none}
	if data, err = json.Marshal(parts); err != nil {
		t.Fatal(err)
	}
	return dynamic.NewTemplate(jsondoc.New(data), api.Document{})
}

// Open opens a resource until the test ends.
func Open(t testing.TB, group registry.Group, resource registry.Resource) verb.Handle {
	t.Helper()
	backend := memory.New()
	config := registry.Config{Backend: backend, Prefix: "/registry", DisableCache: true,
		Schemas: ownership.NewSchemas(group.Name, group.OpenAPI)}
	handle, err := resource.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(handle.Close(), backend.Close()); err != nil {
			t.Error(err)
		}
	})
	return handle
}

// request is a write of an object or of its status.
type request struct {
	name string
	body map[string]any
	// replaces says that it updates what is stored.
	replaces bool
	// subresource is status, or empty.
	subresource string
}

// write creates or replaces an object in both ways, then its status, and returns how the results differ.
func (p *Pair) write(name string, body map[string]any, replaces bool) []string {
	p.written++
	out, accepted := p.both(request{name: name, body: body, replaces: replaces})
	if !accepted {
		return out
	}
	p.accepted++
	status, described := p.schema.Properties["status"]
	if !p.status || !described || p.random == nil {
		return out
	}
	p.writtenStatus++
	with := map[string]any{"status": p.random.value(&status)}
	more, accepted := p.both(request{name: name, body: with, replaces: true, subresource: "status"})
	if accepted {
		p.acceptedStatus++
	}
	return append(out, more...)
}

// both sends a request to both resources. It returns how the results differ, and whether both accepted it.
func (p *Pair) both(r request) (out []string, accepted bool) {
	typed, typedErr := p.send(p.Typed, r)
	custom, customErr := p.send(p.Custom, r)
	if typedErr == nil && customErr == nil {
		typedSets, customSets := typed[managed].([]any), custom[managed].([]any)
		out = append(p.returned(p.Typed, r, typed, "the type"), p.returned(p.Custom, r, custom, "the definition")...)
		out = append(append(out, reread(typed, "the type")...), reread(custom, "the definition")...)
		different := compare("", typed, custom)
		if len(different) > 0 {
			p.differs[r.name] = true
			if p.native {
				usual(typed, custom)
				different = compare("", typed, usual(custom, typed))
			}
		} else if unkeyed(r.body, p.schema, false) {
			p.differs[r.name] = true
		} else if !p.differs[r.name] {
			out = append(out, managers(typedSets, customSets, p.native)...)
		}
		return append(out, different...), true
	}
	if apierrors.IsNotFound(typedErr) && apierrors.IsNotFound(customErr) {
		return nil, false // both refused what this would have replaced
	}
	if typedErr == nil || customErr == nil { // the next write replaces the same object
		for _, h := range []verb.Handle{p.Typed, p.Custom} {
			_, _ = h.Delete(p.Context(), p.namespace, r.name, verb.DeleteOptions{})
		}
	}
	if r.subresource != "" {
		p.differs[r.name] = true
	}
	if p.nullIsAbsent && strings.HasSuffix(r.name, "apply") && len(ofNull(customErr)) > 0 {
		return nil, false
	}
	return refusals(typedErr, customErr, p.native), false
}

// unkeyed reports whether an element of a list is null, or one of a list with keys lacks one, or has null, inside of an
// atomic list or struct. In the status that a client sends with an object, which isn't validated, it may. Field
// ownership of a definition can't read it, and then tracks nothing; that of a Go type reads a zero value for null, and
// doesn't look into an atomic list, which has one owner.
func unkeyed(v any, s *apiextensionsv1.JSONSchemaProps, atomic bool) bool {
	if s == nil {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		atomic = atomic || s.XMapType != nil && *s.XMapType == "atomic"
		for name, member := range v {
			if property, ok := s.Properties[name]; ok && unkeyed(member, &property, atomic) {
				return true
			}
			if s.AdditionalProperties != nil && unkeyed(member, s.AdditionalProperties.Schema, atomic) {
				return true
			}
		}
	case []any:
		atomic = atomic || s.XListType == nil || *s.XListType == "atomic"
		return s.Items != nil && slices.ContainsFunc(v, func(element any) bool {
			return element == nil || atomic && lacksKey(element, s) || unkeyed(element, s.Items.Schema, atomic)
		})
	}
	return false
}

func lacksKey(element any, list *apiextensionsv1.JSONSchemaProps) bool {
	object, ok := element.(map[string]any)
	return ok && slices.ContainsFunc(list.XListMapKeys, func(key string) bool {
		return object[key] == nil && list.Items.Schema.Properties[key].Default == nil
	})
}

// The keys of the field sets, and of what a read returns, in what send returns.
const managed, read = "managedFields", "read"

// returned sends back what a read returned. It returns a difference where that is refused: one for all objects, whose
// names it leaves out.
func (p *Pair) returned(h verb.Handle, r request, answer map[string]any, by string) []string {
	r.body, r.replaces = maps.Clone(answer[read].(map[string]any)), true
	delete(r.body, managed)
	if _, err := p.request(h, r); err != nil {
		return []string{by + " refuses what it has answered: " + strings.ReplaceAll(err.Error(), r.name, "")}
	}
	return nil
}

// reread returns how what a read returned differs from what was answered, both of which it takes apart.
func reread(answer map[string]any, by string) (out []string) {
	found := answer[read].(map[string]any)
	delete(answer, read)
	for _, difference := range compare("", answer, found) {
		out = append(out, "the answer of "+by+" isn't what it reads then: "+difference)
	}
	delete(answer, managed)
	return out
}

// send returns what the server stores of an object, without the members that it sets itself, and the field sets.
func (p *Pair) send(h verb.Handle, r request) (map[string]any, error) {
	result, err := p.request(h, r)
	if err != nil {
		return nil, err
	}
	found, err := h.Get(p.Context(), p.namespace, r.name, "", verb.Form{Version: p.version})
	if err != nil {
		p.Fatal(err)
	}
	out := p.content(result.Object)
	out[read] = p.content(found)
	return out, nil
}

func (p *Pair) content(object verb.Rendition) (content map[string]any) {
	data := slices.Concat([]byte("{"+object.Head), object.Payload)
	if err := json.Unmarshal(data, &content); err != nil {
		p.Fatal(err)
	}
	entries, _, err := unstructured.NestedSlice(content, "metadata", managed)
	if err != nil {
		p.Fatal(err)
	}
	delete(content, "metadata")
	delete(content, "apiVersion")
	delete(content, "kind")
	sets := []any{}
	for _, entry := range entries {
		sets = append(sets, entry.(map[string]any)["fieldsV1"])
	}
	// Entries stand in the order of their seconds.
	slices.SortFunc(sets, func(a, b any) int { return strings.Compare(text(a), text(b)) })
	content[managed] = sets
	return content
}

// Whole returns an object with its kind and name.
func (p *Pair) Whole(name string, body map[string]any) map[string]any {
	whole := map[string]any{"apiVersion": p.APIVersion, "kind": p.Kind, "metadata": map[string]any{"name": name}}
	maps.Copy(whole, body)
	return whole
}

// request writes an object whose name ends with the kind of the request.
func (p *Pair) request(h verb.Handle, r request) (verb.Result, error) {
	form := verb.Form{Version: p.version}
	opts := verb.WriteOptions{Form: form, FieldManager: "one", Force: true}
	whole, body := p.Whole(r.name, r.body), verb.Body{Version: p.version}
	if h == p.Typed {
		whole["apiVersion"] = p.typedVersion
	}
	switch {
	case strings.HasSuffix(r.name, "apply"):
		body.Data = p.encode(whole)
		return h.Patch(p.Context(), p.namespace, r.name, r.subresource, verb.ApplyPatch, body, opts)
	case !r.replaces && strings.HasSuffix(r.name, "cbor"):
		body.Encoding = verb.CBOR
		var err error
		if body.Data, err = direct.Marshal(whole); err != nil {
			p.Fatal(err)
		}
		return h.Create(p.Context(), p.namespace, body, opts)
	case !r.replaces:
		body.Data = p.encode(whole)
		return h.Create(p.Context(), p.namespace, body, opts)
	}
	old, err := h.Get(p.Context(), p.namespace, r.name, "", form)
	if err != nil {
		return verb.Result{}, err
	}
	version := string(old.Payload[old.VersionAt : old.VersionAt+old.VersionLen])
	whole["metadata"] = map[string]any{"name": r.name, "resourceVersion": version}
	body.Data = p.encode(whole)
	return h.Update(p.Context(), p.namespace, r.name, r.subresource, body, opts)
}

func (p *Pair) encode(whole any) []byte {
	data, err := json.Marshal(whole)
	if err != nil {
		p.Fatal(err)
	}
	return data
}

package discovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/http/openapi"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/internal/request"
	"github.com/munnerz/goautoneg"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const swaggerPath = "/openapi/v2"

// The media types of OpenAPI documents in protobuf.
const (
	swaggerProtobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	openAPIProtobuf = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
)

// openAPIType returns the media type that the client prefers, JSON or protobuf, or "" if it accepts neither. Clients
// also ask for protobuf by an older name, which isn't a valid media type.
func openAPIType(r *http.Request, protobuf string) string {
	header := r.Header.Get("Accept")
	if header == "" {
		return negotiation.TypeJSON
	}
	kind, _ := strings.CutPrefix(protobuf, "application/")
	for _, clause := range goautoneg.ParseAccept(header) {
		switch {
		case clause.Type != "application" && clause.Type != "*":
		case clause.SubType == "json", clause.SubType == "*":
			return negotiation.TypeJSON
		case clause.SubType == kind, clause.SubType == strings.Replace(kind, ".v1.0", "@v1.0", 1):
			return protobuf
		}
	}
	return ""
}

type swaggerParts struct {
	Paths       map[string]json.RawMessage `json:"paths"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

// addSwagger adds the document of all groups, if at least one of them has one.
func addSwagger(documents map[string]document, groups []Group) {
	if !slices.ContainsFunc(groups, func(g Group) bool { return !g.Swagger.IsZero() || len(g.Remotes) > 0 }) {
		return
	}
	document := sync.OnceValues(func() (api.Document, error) { return joined(groups) })
	documents[swaggerPath] = newOpenAPIDocument(document, openapi.EncodeV2, swaggerProtobuf, "")
}

// joined returns the document of all groups, with the paths that the server serves.
func joined(groups []Group) (api.Document, error) {
	all := swaggerParts{map[string]json.RawMessage{}, map[string]json.RawMessage{}}
	for i := range groups {
		if err := all.add(&groups[i]); err != nil {
			return api.Document{}, fmt.Errorf("OpenAPI v2 of group %q: %w", groups[i].Name, err)
		}
	}
	for i := range groups {
		for _, version := range slices.Sorted(maps.Keys(groups[i].Remotes)) {
			gv := schema.GroupVersion{Group: groups[i].Name, Version: version}
			all.addRemote(gv, groups[i].Remotes[version].Swagger)
		}
	}
	prune(all.Paths, all.Definitions, definitionReference)
	return jsondoc.New(toJSON(map[string]any{
		"swagger": "2.0", "info": map[string]string{"title": "Kubernetes API", "version": "unversioned"},
		"paths": all.Paths, "definitions": all.Definitions,
		"securityDefinitions": map[string]any{"BearerToken": map[string]string{
			"type": "apiKey", "in": "header", "name": "authorization", "description": "Bearer Token authentication",
		}},
		"security": []map[string][]string{{"BearerToken": {}}},
	})), nil
}

// add adds the paths of a group that the server serves, and the group's definitions.
func (p *swaggerParts) add(group *Group) error {
	if group.Swagger.IsZero() {
		return nil
	}
	data, err := group.Swagger.JSON()
	if err != nil {
		return err
	}
	var parts swaggerParts
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	root := groupRoot(group.Name) + "/"
	for path, item := range parts.Paths {
		if _, known := p.Paths[path]; known {
			return fmt.Errorf("path %s is another group's", path)
		}
		if group.servesPath(strings.TrimPrefix(path, root)) {
			p.Paths[path] = item
		}
	}
	for name, definition := range parts.Definitions {
		if known := p.Definitions[name]; known != nil {
			var err error
			if definition, err = sharedDefinition(known, definition); err != nil {
				return err
			}
		}
		p.Definitions[name] = definition
	}
	return nil
}

// addRemote adds the paths of a version, and the definitions that they need. Definitions that other groups have, too,
// and that say something else get another name, as in kube-apiserver. A document that can't be read, or that refers to
// other definitions than its own, adds nothing: what another server says can't take away the documents of this one.
func (p *swaggerParts) addRemote(gv schema.GroupVersion, document api.Document) {
	if document.IsZero() {
		return
	}
	data, err := document.JSON()
	if err != nil {
		return
	}
	var parts swaggerParts
	if json.Unmarshal(data, &parts) != nil {
		return
	}
	root := groupRoot(gv.Group) + "/" + gv.Version
	maps.DeleteFunc(parts.Paths, func(path string, _ json.RawMessage) bool { return !isPathOf(root, path) })
	if parts.claim(gv) != nil {
		return
	}
	prune(parts.Paths, parts.Definitions, definitionReference)
	names := map[string]string{}
	for name, definition := range parts.Definitions {
		if known := p.Definitions[name]; known != nil && !sameDefinition(known, definition) {
			names[name] = p.freeName(name, parts.Definitions)
		}
	}
	for name, definition := range parts.Definitions {
		if renamed, ok := names[name]; ok {
			name = renamed
		} else if known := p.Definitions[name]; known != nil {
			if joined, err := sharedDefinition(known, definition); err == nil {
				p.Definitions[name] = joined
			}
			continue
		}
		p.Definitions[name] = withReferences(definition, names)
	}
	for path, item := range parts.Paths {
		p.Paths[path] = withReferences(item, names)
	}
}

// freeName returns a name that neither p nor others have.
func (p *swaggerParts) freeName(name string, others map[string]json.RawMessage) string {
	for n := 2; ; n++ {
		free := fmt.Sprintf("%s_v%d", name, n)
		if p.Definitions[free] == nil && others[free] == nil {
			return free
		}
	}
}

// sameDefinition reports whether two definitions differ in nothing but the kinds that they are of.
func sameDefinition(a, b json.RawMessage) bool {
	var first, second map[string]any
	if json.Unmarshal(a, &first) != nil || json.Unmarshal(b, &second) != nil {
		return false
	}
	delete(first, kindsKey)
	delete(second, kindsKey)
	return reflect.DeepEqual(first, second)
}

// withReferences replaces the names of definitions to which data refers.
func withReferences(data json.RawMessage, names map[string]string) json.RawMessage {
	if len(names) == 0 {
		return data
	}
	return definitionReference.ReplaceAllFunc(data, func(found []byte) []byte {
		if renamed, ok := names[string(definitionReference.FindSubmatch(found)[1])]; ok {
			return []byte(`"#/definitions/` + renamed + `"`)
		}
		return found
	})
}

// servesPath reports whether the server serves a path below the root of its group: v1/widgets/{name}, or
// v1/namespaces/{namespace}/widgets, or either after v1/watch; v1/ alone is a version.
func (g *Group) servesPath(path string) bool {
	parts := strings.Split(path, "/")
	version, parts := parts[0], parts[1:]
	if !slices.Contains(g.Versions, version) {
		return false
	}
	if len(parts) > 0 && parts[0] == request.VerbWatch {
		parts = parts[1:]
	}
	if request.BelowNamespace(parts) {
		parts = parts[2:]
	}
	return len(parts) == 0 || parts[0] == "" || slices.ContainsFunc(g.resourcesIn(version), func(r Resource) bool {
		return r.Info.Names.Plural == parts[0]
	})
}

// kindsKey lists the kinds of a type. DeleteOptions is a kind in each group.
const kindsKey = "x-kubernetes-group-version-kind"

// sharedDefinition joins the definitions that two groups have of one type: it lists the kinds of both.
func sharedDefinition(a, b json.RawMessage) (json.RawMessage, error) {
	var first, second map[string]json.RawMessage
	var kinds, more []map[string]string
	if err := errors.Join(json.Unmarshal(a, &first), json.Unmarshal(b, &second)); err != nil {
		return nil, err
	}
	if first[kindsKey] == nil || second[kindsKey] == nil {
		return a, nil
	}
	err := errors.Join(json.Unmarshal(first[kindsKey], &kinds), json.Unmarshal(second[kindsKey], &more))
	if err != nil {
		return nil, err
	}
	for _, kind := range more {
		if !slices.ContainsFunc(kinds, func(known map[string]string) bool { return maps.Equal(known, kind) }) {
			kinds = append(kinds, kind)
		}
	}
	data, err := json.Marshal(kinds)
	if err != nil {
		return nil, err
	}
	first[kindsKey] = data
	return json.Marshal(first)
}

var definitionReference = regexp.MustCompile(`"#/definitions/([^"]+)"`)

// prune removes the schemas that no path needs. The first group of the expression reference is the name of a schema.
func prune(paths, schemas map[string]json.RawMessage, reference *regexp.Regexp) {
	needed := map[string]bool{}
	var visit func(data []byte)
	visit = func(data []byte) {
		for _, found := range reference.FindAllSubmatch(data, -1) {
			if name := string(found[1]); !needed[name] {
				needed[name] = true
				visit(schemas[name])
			}
		}
	}
	for _, item := range paths {
		visit(item)
	}
	maps.DeleteFunc(schemas, func(name string, _ json.RawMessage) bool { return !needed[name] })
}

package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"apigen.dev/runtime/api"
	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"github.com/munnerz/goautoneg"
)

const swaggerPath = "/openapi/v2"

// The protobuf of OpenAPI documents, as both servers and clients call it today.
const (
	swaggerProtobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	openAPIProtobuf = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
)

// swagger is the OpenAPI v2 document of all groups. Each form is made when it is first asked for, and kept compressed.
type swagger struct {
	json     func() (api.Document, error)
	protobuf func() ([]byte, error)
}

func (d *swagger) serve(a *API, w http.ResponseWriter, r *http.Request) error {
	header := w.Header()
	header.Add("Vary", "Accept")
	contentType := openAPIType(r, swaggerProtobuf)
	if contentType == "" {
		return notAcceptable(typeJSON, swaggerProtobuf)
	}
	document, err := d.json()
	if err != nil {
		return err
	}
	if notModified(w, r, document.Hash) {
		return nil
	}
	data := document.Gzip
	if contentType == swaggerProtobuf {
		if data, err = d.protobuf(); err != nil {
			return err
		}
	}
	return a.writeCompressed(w, r, contentType, data)
}

// openAPIType picks what the client wants most, JSON or protobuf; "" is neither. Clients ask for protobuf by its old name, too,
// which is no media type that all programs can parse.
func openAPIType(r *http.Request, protobuf string) string {
	header := r.Header.Get("Accept")
	if header == "" {
		return typeJSON
	}
	kind, _ := strings.CutPrefix(protobuf, "application/")
	for _, clause := range goautoneg.ParseAccept(header) {
		switch {
		case clause.Type != "application" && clause.Type != "*":
		case clause.SubType == "json", clause.SubType == "*":
			return typeJSON
		case clause.SubType == kind, clause.SubType == strings.Replace(kind, ".v1.0", "@v1.0", 1):
			return protobuf
		}
	}
	return ""
}

// writeCompressed writes what is kept compressed, as it is to clients that take it so.
func (a *API) writeCompressed(w http.ResponseWriter, r *http.Request, contentType string, data []byte) error {
	if acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
	} else {
		var err error
		if data, err = api.Unzip(data); err != nil {
			return err
		}
	}
	out := &answer{w: w, api: a, code: http.StatusOK, contentType: []string{contentType}, complete: true}
	defer out.close()
	_, _ = out.Write(data) // the client went away
	return nil
}

// swaggerParts is as much of a document as is looked into.
type swaggerParts struct {
	Paths       map[string]json.RawMessage `json:"paths"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

// addSwagger adds the document of all groups, where any of them brings one.
func addSwagger(documents map[string]document, groups []Group) {
	if !slices.ContainsFunc(groups, func(g Group) bool { return !g.Swagger.IsZero() }) {
		return
	}
	json := sync.OnceValues(func() (api.Document, error) { return joined(groups) })
	documents[swaggerPath] = &swagger{json: json, protobuf: sync.OnceValues(func() ([]byte, error) {
		document, err := json()
		if err != nil {
			return nil, err
		}
		return asProtobuf(document, openapi_v2.ParseDocument)
	})}
}

// joined is the document of the groups, as far as their versions are served.
func joined(groups []Group) (api.Document, error) {
	all := swaggerParts{map[string]json.RawMessage{}, map[string]json.RawMessage{}}
	for i := range groups {
		if err := all.add(&groups[i]); err != nil {
			return api.Document{}, fmt.Errorf("OpenAPI v2 of group %q: %w", groups[i].Name, err)
		}
	}
	prune(all.Paths, all.Definitions, definitionReference)
	return api.NewDocument(encoded(map[string]any{
		"swagger": "2.0", "info": map[string]string{"title": "Kubernetes API", "version": "unversioned"},
		"paths": all.Paths, "definitions": all.Definitions,
		"securityDefinitions": map[string]any{"BearerToken": map[string]string{
			"type": "apiKey", "in": "header", "name": "authorization", "description": "Bearer Token authentication",
		}},
		"security": []map[string][]string{{"BearerToken": {}}},
	})), nil
}

// add reads a group's document, where it has one, and joins it.
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
	return p.join(group, parts)
}

// join adds a group's paths of what it serves, and its definitions.
func (p *swaggerParts) join(group *Group, parts swaggerParts) error {
	root := groupRoot(group.Name) + "/"
	for path, item := range parts.Paths {
		if _, known := p.Paths[path]; known {
			return fmt.Errorf("path %s is another group's", path)
		}
		if group.serves(strings.TrimPrefix(path, root)) {
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

// serves tells whether what a path names below its group's root is served: v1/widgets/{name}, or
// v1/namespaces/{namespace}/widgets, or either behind v1/watch; v1/ alone is a version.
func (g *Group) serves(path string) bool {
	parts := strings.Split(path, "/")
	version, parts := parts[0], parts[1:]
	if !slices.Contains(g.Versions, version) {
		return false
	}
	if len(parts) > 0 && parts[0] == watchPart {
		parts = parts[1:]
	}
	if len(parts) > 2 && parts[0] == namespacesPart && parts[2] != "status" && parts[2] != "finalize" {
		parts = parts[2:]
	}
	return len(parts) == 0 || parts[0] == "" || slices.ContainsFunc(g.infos(version), func(info *api.Info) bool { return info.Names.Plural == parts[0] })
}

// kindsKey names the kinds that a type is, which several groups know of one type: DeleteOptions are a kind in each.
const kindsKey = "x-kubernetes-group-version-kind"

// sharedDefinition is a definition that two groups have, with the kinds of both.
func sharedDefinition(a, b json.RawMessage) (json.RawMessage, error) {
	var first, second map[string]json.RawMessage
	var kinds, more []map[string]string
	if err := errors.Join(json.Unmarshal(a, &first), json.Unmarshal(b, &second)); err != nil {
		return nil, err
	}
	if first[kindsKey] == nil || second[kindsKey] == nil {
		return a, nil
	}
	if err := errors.Join(json.Unmarshal(first[kindsKey], &kinds), json.Unmarshal(second[kindsKey], &more)); err != nil {
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

// prune leaves the schemas that some path needs. A reference names a schema in its first group.
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

package endpoint

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"apigen.dev/runtime/api"
	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"github.com/munnerz/goautoneg"
	"google.golang.org/protobuf/proto"
)

const swaggerPath = "/openapi/v2"

// swaggerTypes are what the document is served as, by what a client may call it. The old name of its protobuf is no
// media type that all programs can parse.
var swaggerTypes = []struct {
	subkind, contentType string
	protobuf             bool
}{
	{"json", typeJSON, false},
	{"com.github.proto-openapi.spec.v2@v1.0+protobuf", swaggerProtobuf, true},
	{"com.github.proto-openapi.spec.v2.v1.0+protobuf", swaggerProtobuf, true},
}

const swaggerProtobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

// swagger is the OpenAPI v2 document of all groups, kept compressed.
type swagger struct {
	json     []byte // compressed
	hash     string
	protobuf func() ([]byte, error) // compressed; made when it is first asked for
}

func (d *swagger) serve(a *API, w http.ResponseWriter, r *http.Request) error {
	header := w.Header()
	header.Add("Vary", "Accept")
	contentType, asProtobuf, ok := swaggerType(r)
	if !ok {
		return notAcceptable(typeJSON, swaggerProtobuf)
	}
	if notModified(w, r, d.hash) {
		return nil
	}
	data := d.json
	if asProtobuf {
		var err error
		if data, err = d.protobuf(); err != nil {
			return err
		}
	}
	return a.writeCompressed(w, r, contentType, data)
}

// swaggerType picks what the client wants most.
func swaggerType(r *http.Request) (contentType string, protobuf, ok bool) {
	header := r.Header.Get("Accept")
	if header == "" {
		header = "*/*"
	}
	for _, clause := range goautoneg.ParseAccept(header) {
		for _, t := range swaggerTypes {
			if (clause.Type == "application" || clause.Type == "*") && (clause.SubType == t.subkind || clause.SubType == "*") {
				return t.contentType, t.protobuf, true
			}
		}
	}
	return "", false, false
}

// writeCompressed writes what is kept compressed, as it is to clients that take it so.
func (a *API) writeCompressed(w http.ResponseWriter, r *http.Request, contentType string, data []byte) error {
	if acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
	} else {
		unzip, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return err
		}
		if data, err = io.ReadAll(unzip); err != nil {
			return err
		}
	}
	out := &answer{w: w, api: a, code: http.StatusOK, contentType: []string{contentType}, complete: true}
	defer out.close()
	_, _ = out.Write(data) // the client went away
	return nil
}

func compressed(data []byte) []byte {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	_, _ = zip.Write(data) // a buffer takes everything
	_ = zip.Close()
	return out.Bytes()
}

// swaggerParts is as much of a document as is looked into.
type swaggerParts struct {
	Paths       map[string]json.RawMessage `json:"paths"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

// addSwagger joins the documents of the groups, as far as their versions are served.
func addSwagger(documents map[string]document, groups []Group) error {
	all := swaggerParts{map[string]json.RawMessage{}, map[string]json.RawMessage{}}
	for i := range groups {
		if len(groups[i].Swagger) == 0 {
			continue
		}
		var parts swaggerParts
		if err := json.Unmarshal(groups[i].Swagger, &parts); err != nil {
			return fmt.Errorf("OpenAPI v2 of group %q: %w", groups[i].Name, err)
		}
		if err := all.join(&groups[i], parts); err != nil {
			return fmt.Errorf("OpenAPI v2 of group %q: %w", groups[i].Name, err)
		}
	}
	if len(all.Paths) == 0 {
		return nil // no group brings one
	}
	prune(all.Paths, all.Definitions, definitionReference)
	data, err := json.Marshal(map[string]any{
		"swagger": "2.0", "info": map[string]string{"title": "Kubernetes API", "version": "unversioned"},
		"paths": all.Paths, "definitions": all.Definitions,
		"securityDefinitions": map[string]any{"BearerToken": map[string]string{
			"type": "apiKey", "in": "header", "name": "authorization", "description": "Bearer Token authentication",
		}},
		"security": []map[string][]string{{"BearerToken": {}}},
	})
	if err != nil {
		return err
	}
	kept := compressed(data)
	documents[swaggerPath] = &swagger{json: kept, hash: hashOf(data), protobuf: sync.OnceValues(func() ([]byte, error) { return swaggerAsProtobuf(kept) })}
	return nil
}

func swaggerAsProtobuf(kept []byte) ([]byte, error) {
	unzip, err := gzip.NewReader(bytes.NewReader(kept))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(unzip)
	if err != nil {
		return nil, err
	}
	document, err := openapi_v2.ParseDocument(data)
	if err != nil {
		return nil, err
	}
	data, err = proto.Marshal(document)
	return compressed(data), err
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

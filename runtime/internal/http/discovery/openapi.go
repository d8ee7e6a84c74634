package discovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/http/openapi"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/jsondoc"
)

const openAPIRoot = "/openapi/v3"

// openAPIDocument is the OpenAPI v3 document of one version, or the OpenAPI v2 document of all groups. Each form is
// made when a client first asks for it, and kept compressed.
type openAPIDocument struct {
	document     func() (api.Document, error)
	protobuf     func() ([]byte, error)
	protobufType string
	// location is the address with the hash, at which a v3 document never changes; "" for v2.
	location string
}

func newOpenAPIDocument(
	document func() (api.Document, error), encode func([]byte) ([]byte, error), protobufType, location string,
) document {
	protobuf := func() ([]byte, error) {
		d, err := document()
		if err != nil {
			return nil, err
		}
		data, err := d.JSON()
		if err != nil {
			return nil, err
		}
		data, err = encode(data)
		return jsondoc.New(data).Gzip, err
	}
	return (&openAPIDocument{document, sync.OnceValues(protobuf), protobufType, location}).serve
}

func (d *openAPIDocument) serve(w http.ResponseWriter, r *http.Request) error {
	header := w.Header()
	header.Add("Vary", "Accept")
	contentType := openAPIType(r, d.protobufType)
	if contentType == "" {
		return negotiation.NotAcceptable(negotiation.TypeJSON, d.protobufType)
	}
	document, err := d.document()
	if err != nil {
		return err
	}
	if hash := r.URL.Query().Get("hash"); hash != "" && d.location != "" {
		if hash != document.Hash {
			http.Redirect(w, r, d.location, http.StatusMovedPermanently)
			return nil
		}
		header.Set("Cache-Control", "public, immutable")
		header.Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
	}
	if respond.NotModified(w, r, document.Hash) {
		return nil
	}
	compressed := document.Compressed
	if contentType == d.protobufType {
		compressed = d.protobuf
	}
	data, err := compressed()
	if err != nil {
		return err
	}
	return respond.Compressed(w, r, contentType, data)
}

// addOpenAPI adds the document of each version that has one, and the index of all, which as in kube-apiserver is JSON,
// whatever the client accepts.
func addOpenAPI(documents map[string]document, groups []Group) error {
	type location struct {
		ServerRelativeURL string `json:"serverRelativeURL"`
	}
	paths := map[string]location{}
	for i := range groups {
		for version, document := range groups[i].OpenAPI {
			if !slices.Contains(groups[i].Versions, version) {
				return fmt.Errorf("OpenAPI of group %q: version %q is not served", groups[i].Name, version)
			}
			document, err := groups[i].withoutUnserved(version, document)
			if err != nil {
				return fmt.Errorf("OpenAPI of group %q, version %q: %w", groups[i].Name, version, err)
			}
			path := groupRoot(groups[i].Name) + "/" + version
			address := openAPIRoot + path + "?hash=" + url.QueryEscape(document.Hash)
			documents[openAPIRoot+path] = newOpenAPIDocument(
				func() (api.Document, error) { return document, nil }, openapi.EncodeV3,
				openAPIProtobuf, address)
			paths[path[1:]] = location{address}
		}
	}
	index := sync.OnceValue(func() hashed { return hashOf(toJSON(map[string]any{"paths": paths})) })
	documents[openAPIRoot] = func(w http.ResponseWriter, r *http.Request) error {
		if respond.NotModified(w, r, index().hash) {
			return nil
		}
		return respond.Bytes(w, r, negotiation.MediaType{}, negotiation.TypeJSON, index().data)
	}
	return nil
}

// withoutUnserved drops the paths of resources that aren't served, and the schemas that only they need.
func (g *Group) withoutUnserved(version string, document api.Document) (api.Document, error) {
	if _, remote := g.Remotes[version]; remote || g.Serves == nil {
		return document, nil
	}
	data, err := document.JSON()
	if err != nil {
		return document, err
	}
	var members, components map[string]json.RawMessage
	var paths, schemas map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return document, err
	}
	if members["paths"] == nil {
		return document, nil
	}
	if err := json.Unmarshal(members["paths"], &paths); err != nil {
		return document, err
	}
	root, before := groupRoot(g.Name)+"/", len(paths)
	maps.DeleteFunc(paths, func(path string, _ json.RawMessage) bool {
		return !g.servesPath(strings.TrimPrefix(path, root))
	})
	if len(paths) == before {
		return document, nil
	}
	err = errors.Join(json.Unmarshal(members["components"], &components),
		json.Unmarshal(components["schemas"], &schemas))
	if err != nil {
		return document, err
	}
	prune(paths, schemas, componentReference)
	components["schemas"] = toJSON(schemas)
	members["components"], members["paths"] = toJSON(components), toJSON(paths)
	return jsondoc.New(toJSON(members)), nil
}

var componentReference = regexp.MustCompile(`"#/components/schemas/([^"]+)"`)

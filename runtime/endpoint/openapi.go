package endpoint

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
	"time"

	"github.com/munnerz/goautoneg"
)

const openAPIRoot = "/openapi/v3"

// openAPIIndex tells where the documents of all versions are.
type openAPIIndex struct {
	data []byte
	hash string
}

func (d *openAPIIndex) serve(a *API, w http.ResponseWriter, r *http.Request) error {
	if !acceptsJSON(r) {
		return notAcceptable(typeJSON)
	}
	if notModified(w, r, d.hash) {
		return nil
	}
	return a.writeBytes(w, r, mediaType{}, typeJSON, d.data)
}

// openAPIDocument is the OpenAPI v3 document of one version.
type openAPIDocument struct {
	data []byte
	hash string
	// location is the address with the hash, under which the document never changes.
	location string
}

func (d *openAPIDocument) serve(a *API, w http.ResponseWriter, r *http.Request) error {
	header := w.Header()
	header.Add("Vary", "Accept")
	if !acceptsJSON(r) {
		return notAcceptable(typeJSON)
	}
	if hash := r.URL.Query().Get("hash"); hash != "" {
		if hash != d.hash {
			http.Redirect(w, r, d.location, http.StatusMovedPermanently)
			return nil
		}
		header.Set("Cache-Control", "public, immutable")
		header.Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
	}
	if notModified(w, r, d.hash) {
		return nil
	}
	return a.writeBytes(w, r, mediaType{}, typeJSON, d.data)
}

// acceptsJSON looks for JSON alone: the protobuf form of OpenAPI is not served, and clients that prefer it accept both.
func acceptsJSON(r *http.Request) bool {
	header := r.Header.Get("Accept")
	if header == "" {
		return true
	}
	return slices.ContainsFunc(goautoneg.ParseAccept(header), func(clause goautoneg.Accept) bool {
		return (clause.Type == "application" || clause.Type == "*") && (clause.SubType == "json" || clause.SubType == "*")
	})
}

// addOpenAPI makes the index and a document for each version that has one.
func addOpenAPI(documents map[string]document, groups []Group) error {
	type location struct {
		ServerRelativeURL string `json:"serverRelativeURL"`
	}
	paths := map[string]location{}
	for i := range groups {
		for version, data := range groups[i].OpenAPI {
			if !slices.Contains(groups[i].Versions, version) {
				return fmt.Errorf("OpenAPI of group %q: version %q is not served", groups[i].Name, version)
			}
			if !json.Valid(data) {
				return fmt.Errorf("OpenAPI of group %q, version %q, is no JSON", groups[i].Name, version)
			}
			data, err := groups[i].narrowed(data)
			if err != nil {
				return fmt.Errorf("OpenAPI of group %q, version %q: %w", groups[i].Name, version, err)
			}
			path := groupRoot(groups[i].Name) + "/" + version
			hash := hashOf(data)
			address := openAPIRoot + path + "?" + url.Values{"hash": {hash}}.Encode()
			documents[openAPIRoot+path] = &openAPIDocument{data, hash, address}
			paths[path[1:]] = location{address}
		}
	}
	data := encoded(map[string]any{"paths": paths})
	documents[openAPIRoot] = &openAPIIndex{data, hashOf(data)}
	return nil
}

// narrowed is a document without the resources that are not served, and without what only they need.
func (g *Group) narrowed(data []byte) ([]byte, error) {
	if g.Serves == nil {
		return data, nil
	}
	var document, components map[string]json.RawMessage
	var paths, schemas map[string]json.RawMessage
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	if document["paths"] == nil {
		return data, nil
	}
	if err := json.Unmarshal(document["paths"], &paths); err != nil {
		return nil, err
	}
	root, before := groupRoot(g.Name)+"/", len(paths)
	maps.DeleteFunc(paths, func(path string, _ json.RawMessage) bool { return !g.serves(strings.TrimPrefix(path, root)) })
	if len(paths) == before {
		return data, nil
	}
	if err := errors.Join(json.Unmarshal(document["components"], &components), json.Unmarshal(components["schemas"], &schemas)); err != nil {
		return nil, err
	}
	prune(paths, schemas, componentReference)
	var err error
	if components["schemas"], err = json.Marshal(schemas); err != nil {
		return nil, err
	}
	if document["components"], err = json.Marshal(components); err != nil {
		return nil, err
	}
	if document["paths"], err = json.Marshal(paths); err != nil {
		return nil, err
	}
	return json.Marshal(document)
}

var componentReference = regexp.MustCompile(`"#/components/schemas/([^"]+)"`)

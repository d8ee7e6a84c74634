package endpoint

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
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

package endpoint

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// document is what one path outside of resources answers: bytes that were made at New.
type document interface {
	serve(a *API, w http.ResponseWriter, r *http.Request) error
}

// serveDocument finds the document of a path.
func (a *API) serveDocument(w http.ResponseWriter, r *http.Request, info *RequestInfo) error {
	document := a.documents[strings.TrimSuffix(info.Path, "/")]
	if document == nil || info.irregular {
		return errNoRoute
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return errMethod
	}
	return document.serve(a, w, r)
}

// documentsOf is every document by its path.
func documentsOf(groups []Group) (map[string]document, error) {
	documents := map[string]document{}
	if err := addDiscovery(documents, groups); err != nil {
		return nil, err
	}
	addBinaries(documents)
	if err := addOpenAPI(documents, groups); err != nil {
		return nil, err
	}
	addSwagger(documents, groups)
	return documents, nil
}

// writeBytes writes JSON that was made before, in the format that the request accepts.
func (a *API) writeBytes(w http.ResponseWriter, r *http.Request, media mediaType, contentType string, data []byte) error {
	data, err := media.reencode(data)
	if err != nil {
		return err
	}
	out := &answer{w: w, api: a, code: http.StatusOK, contentType: []string{contentType}, gzip: acceptsGzip(r), complete: true}
	defer out.close()
	_, _ = out.Write(data) // the client went away
	return nil
}

// notModified answers 304 where the client has the document already. It sets the document's ETag.
func notModified(w http.ResponseWriter, r *http.Request, hash string) bool {
	tag := strconv.Quote(hash)
	w.Header().Set("Etag", tag)
	for _, header := range r.Header.Values("If-None-Match") {
		for known := range strings.SplitSeq(header, ",") {
			if known = strings.TrimPrefix(strings.TrimSpace(known), "W/"); known == tag || known == "*" {
				w.WriteHeader(http.StatusNotModified)
				return true
			}
		}
	}
	return false
}

// Paths are those of the documents, sorted: what an index of the server lists.
func (a *API) Paths() []string { return slices.Sorted(maps.Keys(a.documents)) }

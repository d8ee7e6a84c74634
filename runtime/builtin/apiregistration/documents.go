package apiregistration

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/http/discovery"
	"apigen.dev/runtime/internal/http/proxy"
	"apigen.dev/runtime/internal/jsondoc"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// documents are what a server says of a version. The zero value says nothing, as a server that was never asked.
type documents struct {
	// said is the document that discovery was read from.
	said      []byte
	discovery discovery.Remote
	// swagger is the OpenAPI v2 document, in the state that swaggerTag names.
	swagger    api.Document
	swaggerTag string
	// openAPI is the OpenAPI v3 document, for this server itself. It is read when it is needed.
	openAPI api.Document
	stale   bool
}

func (d *documents) same(other *documents) bool {
	return d.stale == other.stale && bytes.Equal(d.said, other.said) && d.swagger.Hash == other.swagger.Hash &&
		d.openAPI.Hash == other.openAPI.Hash
}

// carried returns what is said until the server of an APIService that has changed was asked. All of it is read anew.
func (d *documents) carried() *documents {
	return &documents{discovery: d.discovery, swagger: d.swagger, openAPI: d.openAPI, stale: d.stale}
}

// lost returns the documents of a server that no longer answers.
func (d *documents) lost() *documents {
	copied := *d
	copied.stale, copied.discovery = true, d.discovery.Stale()
	return &copied
}

// The users of this server's requests for documents. None is in system:masters, because clients get what the backend
// answers: a backend that passed such a request on to another server would hand out what only masters may read.
var (
	discoverer = &auth.User{Name: "system:kube-aggregator"}
	reader     = &auth.User{Name: "system:aggregator"}
)

// readDocuments asks a server. What didn't change since before isn't read again. OpenAPI documents are left out where
// the server has none: no client needs them for more than comfort.
func readDocuments(
	ctx context.Context, backend *proxy.Backend, gv schema.GroupVersion, before *documents,
) (*documents, error) {
	now := &documents{}
	if err := now.readDiscovery(ctx, backend, gv); err != nil {
		return nil, err
	}
	if err := now.readSwagger(ctx, backend, before); err != nil {
		return nil, err
	}
	now.discovery.Swagger = now.swagger
	return now, now.readOpenAPI(ctx, backend, gv)
}

// readDiscovery reads aggregated discovery, or the list of resources of a server that has no such document.
func (d *documents) readDiscovery(ctx context.Context, backend *proxy.Backend, gv schema.GroupVersion) error {
	answer, err := fetch(ctx, backend, discoverer, "/apis", discovery.AcceptAggregated, "")
	if err != nil {
		return err
	}
	if answer.Code == http.StatusOK {
		all, err := discovery.ReadAggregated(answer.Body)
		if remote, ok := all[gv]; ok && err == nil {
			d.said, d.discovery = answer.Body, remote
			return nil
		}
	}
	path := "/apis/" + gv.Group + "/" + gv.Version
	if answer, err = fetch(ctx, backend, discoverer, path, "application/json", ""); err != nil {
		return err
	}
	if answer.Code != http.StatusOK {
		return fmt.Errorf("%s: status %d", path, answer.Code)
	}
	d.said = answer.Body
	d.discovery, err = discovery.ReadResources(answer.Body, gv)
	return err
}

func (d *documents) readSwagger(ctx context.Context, backend *proxy.Backend, before *documents) error {
	answer, err := fetch(ctx, backend, reader, "/openapi/v2", "application/json", before.swaggerTag)
	switch {
	case err != nil:
		return err
	case answer.Code == http.StatusNotModified:
		d.swagger, d.swaggerTag = before.swagger, before.swaggerTag
	case answer.Code == http.StatusOK && json.Valid(answer.Body):
		d.swagger, d.swaggerTag = jsondoc.New(answer.Body), answer.Header.Get("ETag")
	}
	return nil
}

// readOpenAPI finds the hash of the document in the backend's index. It takes nothing else from there: which document
// the server asks for is not the backend's choice.
func (d *documents) readOpenAPI(ctx context.Context, backend *proxy.Backend, gv schema.GroupVersion) error {
	answer, err := fetch(ctx, backend, reader, "/openapi/v3", "application/json", "")
	if err != nil || answer.Code != http.StatusOK {
		return err
	}
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(answer.Body, &index); err != nil {
		return fmt.Errorf("/openapi/v3: %w", err)
	}
	name := "apis/" + gv.Group + "/" + gv.Version
	entry, listed := index.Paths[name]
	if !listed || entry.ServerRelativeURL == "" {
		return nil
	}
	path, hash := "/openapi/v3/"+name, hashIn(entry.ServerRelativeURL)
	if hash != "" {
		path += "?" + url.Values{"hash": {hash}}.Encode()
	}
	d.openAPI = jsondoc.Fetched([]byte(path), func() ([]byte, error) {
		ctx := context.Background() // fetch has a deadline
		answer, err := fetch(ctx, backend, reader, path, "application/json", "")
		if err != nil {
			return nil, err
		}
		if answer.Code != http.StatusOK || !json.Valid(answer.Body) {
			return nil, fmt.Errorf("%s: status %d, or no JSON", path, answer.Code)
		}
		return answer.Body, nil
	})
	// Clients ask for the document, in the other server, by this hash.
	d.openAPI.Hash = cmp.Or(hash, d.openAPI.Hash)
	return nil
}

// hashIn returns the hash in an address of an OpenAPI v3 document, or "".
func hashIn(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Query().Get("hash")
}

// fetch reads a document as a user, unless it has the tag.
func fetch(
	ctx context.Context, backend *proxy.Backend, user *auth.User, path, accept, tag string,
) (*proxy.Document, error) {
	header := http.Header{}
	if tag != "" {
		header.Set("If-None-Match", tag)
	}
	return backend.Fetch(ctx, user, path, accept, header)
}

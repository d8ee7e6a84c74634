// Package endpoint is the HTTP of resources: routes and verbs, content negotiation, decoding of bodies, watch streams,
// tables, discovery and OpenAPI. It speaks to resources through registry.Handle and knows no Go type, no storage and no
// cache. What every request passes before it comes here is package filter's.
package endpoint

import (
	"net/http"

	"apigen.dev/runtime/registry"
)

// Group is a group whose resources are open.
type Group struct {
	registry.Group
	// Handles are in the order of Group.Resources.
	Handles []registry.Handle
}

// Config is what New needs.
type Config struct {
	Groups []Group
	// MaxBodyBytes bounds a request's body; 0 is 3 MiB, as kube-apiserver's.
	MaxBodyBytes int64
	// MinRequestTimeout bounds how long a watch without timeoutSeconds lives, at least; 0 is 30 min, as
	// kube-apiserver's --min-request-timeout. The actual bound is random between it and its double.
	MinRequestTimeout int64 // seconds
}

// API serves /api, /apis and /openapi/v3: an http.Handler.
type API struct{}

// New computes routes and documents.
func New(config Config) (*API, error) { panic("stub") }

// ServeHTTP answers requests that carry a RequestInfo.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { panic("stub") }

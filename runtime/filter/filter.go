// Package filter has the filters that every request passes before it reaches the endpoint, one in each file. A filter
// is a function from handler to handler. Package server lists the filters in order.
//
// It may know packages auth, request and respond, and knows no resources.
package filter

import "net/http"

// Filter wraps a handler.
type Filter func(http.Handler) http.Handler

// Chain applies filters to a handler. The first filter is the outermost: it sees a request first.
func Chain(handler http.Handler, filters ...Filter) http.Handler {
	for i := len(filters) - 1; i >= 0; i-- {
		handler = filters[i](handler)
	}
	return handler
}

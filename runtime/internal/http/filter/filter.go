// Package filter has the filters that every request passes before it reaches the endpoint, one in each file. Package
// server lists the filters in order.
//
// It may know packages auth, flow, request, respond and trail, and knows no resources.
package filter

import (
	"net/http"
	"slices"
)

// Filter returns a handler that answers a request, or passes it to next.
type Filter func(next http.Handler) http.Handler

// Chain applies filters to a handler. The first filter is the outermost: it sees a request first. A nil filter is none.
func Chain(handler http.Handler, filters ...Filter) http.Handler {
	for _, filter := range slices.Backward(filters) {
		if filter != nil {
			handler = filter(handler)
		}
	}
	return handler
}

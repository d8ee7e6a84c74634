// Package filter has the filters that every request passes before it reaches the endpoint, one in each file. Package
// server lists the filters in order.
//
// It may know packages auth, flow, request, respond and trail, and knows no resources.
package filter

import "net/http"

// Filter answers a request, or passes it to the next handler.
type Filter func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Chain applies filters to a handler. The first filter is the outermost: it sees a request first. A nil filter is none.
func Chain(handler http.Handler, filters ...Filter) http.Handler {
	for i := len(filters) - 1; i >= 0; i-- {
		if filters[i] == nil {
			continue
		}
		filter, next := filters[i], handler
		handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { filter(w, r, next) })
	}
	return handler
}

// Package filter is what every request passes before it reaches its endpoint: one filter a file, each a function from
// handler to handler. The order is package server's, one literal list. Filters know the endpoint's RequestInfo and the
// packages behind them (auth), and no resource.
package filter

import "net/http"

// Filter wraps a handler.
type Filter func(http.Handler) http.Handler

// Chain applies filters so that the first of the list is the outermost: it sees a request first.
func Chain(handler http.Handler, filters ...Filter) http.Handler {
	for i := len(filters) - 1; i >= 0; i-- {
		handler = filters[i](handler)
	}
	return handler
}

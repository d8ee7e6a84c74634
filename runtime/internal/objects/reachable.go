package objects

import "apigen.dev/runtime/internal/verb"

// Reachable returns a reach.Objects for each open resource.
func Reachable(handles []verb.Handle) []any {
	var all []any
	for _, h := range handles {
		if r, ok := h.(interface{ Objects() any }); ok {
			all = append(all, r.Objects())
		}
	}
	return all
}

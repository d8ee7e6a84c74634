package builtin_test

import (
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/registry"
)

// TestRequests sends the requests of usual clients about each kind of the ready-made groups to a server.
func TestRequests(t *testing.T) {
	var groups []registry.Group
	for _, feature := range builtin.Standalone() {
		groups = append(groups, feature.Groups()...)
	}
	apitest.Exercise(t, groups)
}

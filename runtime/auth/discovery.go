package auth

import (
	"context"
	"slices"
	"strings"
)

// Discovery lets everybody who is authenticated read what tells a client what there is, as kube-apiserver does: the
// documents of discovery, OpenAPI, and the version. Of all else Next decides.
type Discovery struct{ Next Authorizer }

// discoveryPaths are those of the documents; what ends in a slash stands for all that is below.
var discoveryPaths = []string{"/api", "/api/", "/apis", "/apis/", "/openapi", "/openapi/", "/version", "/version/"}

// Authorize implements Authorizer.
func (d Discovery) Authorize(ctx context.Context, a Attributes) (Decision, string, error) {
	if a.User != nil && slices.Contains(a.User.Groups, Authenticated) && !a.IsResource && a.Verb == "get" && isDiscovery(a.Path) {
		return Allow, "", nil
	}
	return d.Next.Authorize(ctx, a)
}

func isDiscovery(path string) bool {
	return slices.ContainsFunc(discoveryPaths, func(known string) bool {
		return path == known || strings.HasSuffix(known, "/") && strings.HasPrefix(path, known)
	})
}

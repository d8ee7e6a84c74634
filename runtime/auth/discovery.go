package auth

import (
	"context"
	"slices"
	"strings"
)

// Discovery lets every authenticated user read the documents that describe the server, as kube-apiserver does:
// discovery, OpenAPI, and the version. Next decides on all other requests.
type Discovery struct{ Next Authorizer }

// discoveryPaths are the paths of these documents. A path that ends in a slash includes all paths below.
var discoveryPaths = []string{"/api", "/api/", "/apis", "/apis/", "/openapi", "/openapi/", "/version", "/version/"}

// Authorize implements Authorizer.
func (d Discovery) Authorize(ctx context.Context, a Attributes) (Decision, string, error) {
	if a.User != nil && slices.Contains(a.User.Groups, Authenticated) && !a.IsResource && a.Verb == "get" &&
		isDiscovery(a.Path) {
		return Allow, "", nil
	}
	return d.Next.Authorize(ctx, a)
}

func isDiscovery(path string) bool {
	return slices.ContainsFunc(discoveryPaths, func(known string) bool {
		return path == known || strings.HasSuffix(known, "/") && strings.HasPrefix(path, known)
	})
}

package auth

import (
	"context"
	"slices"
	"strings"
)

// Discovery allows authenticated users to read the documents of discovery, OpenAPI and the version, as kube-apiserver
// does. Next decides about everything else.
type Discovery struct{ Next Authorizer }

// discoveryPaths are the paths of the documents. A path that ends in a slash stands for all paths below it.
var discoveryPaths = []string{"/api", "/api/", "/apis", "/apis/", "/openapi", "/openapi/", "/version", "/version/"}

// Authorize implements Authorizer.
func (d Discovery) Authorize(ctx context.Context, a Attributes) (Decision, string, error) {
	authenticated := a.User != nil && slices.Contains(a.User.Groups, Authenticated)
	if authenticated && !a.IsResource && a.Verb == "get" && isDiscovery(a.Path) {
		return Allow, "", nil
	}
	return d.Next.Authorize(ctx, a)
}

func isDiscovery(path string) bool {
	return slices.ContainsFunc(discoveryPaths, func(known string) bool {
		return path == known || strings.HasSuffix(known, "/") && strings.HasPrefix(path, known)
	})
}

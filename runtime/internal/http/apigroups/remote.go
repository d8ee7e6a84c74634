package apigroups

import (
	"maps"
	"net/http"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/discovery"
	"apigen.dev/runtime/internal/http/endpoint"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Remote is a version of a group that another server serves.
type Remote struct {
	schema.GroupVersion
	// Handler passes requests on to the server.
	Handler http.Handler
	// Discovery is what the server says of the version, and OpenAPI its OpenAPI v3 document; zero if there is none.
	Discovery discovery.Remote
	OpenAPI   api.Document
}

// JoinRemotes returns groups with versions that other servers serve, in place of those of the same name.
func JoinRemotes(groups []endpoint.Group, remotes []Remote) []endpoint.Group {
	joined := slices.Clone(groups)
	for _, remote := range remotes {
		at := slices.IndexFunc(joined, func(g endpoint.Group) bool { return g.Name == remote.Group })
		if at < 0 {
			at, joined = len(joined), append(joined, endpoint.Group{})
			joined[at].Name = remote.Group
		}
		joined[at] = withRemote(joined[at], remote)
	}
	return joined
}

func withRemote(of endpoint.Group, remote Remote) endpoint.Group {
	if !slices.Contains(of.Versions, remote.Version) {
		of.Versions = append(slices.Clone(of.Versions), remote.Version)
	}
	of.Remotes, of.OpenAPI = maps.Clone(of.Remotes), maps.Clone(of.OpenAPI)
	if of.Remotes == nil {
		of.Remotes = map[string]discovery.Remote{}
	}
	if of.OpenAPI == nil {
		of.OpenAPI = map[string]api.Document{}
	}
	of.Remotes[remote.Version] = remote.Discovery
	delete(of.OpenAPI, remote.Version)
	if !remote.OpenAPI.IsZero() {
		of.OpenAPI[remote.Version] = remote.OpenAPI
	}
	return of
}

// Order sorts groups, and the versions of each, as they stand in a list. What isn't in the list stays in its order,
// behind.
func Order(groups []endpoint.Group, list []schema.GroupVersion) {
	rank, groupRank := map[schema.GroupVersion]int{}, map[string]int{}
	for i, gv := range list {
		rank[gv] = i
		if _, known := groupRank[gv.Group]; !known {
			groupRank[gv.Group] = i
		}
	}
	slices.SortStableFunc(groups, func(a, b endpoint.Group) int {
		return rankOf(groupRank, a.Name) - rankOf(groupRank, b.Name)
	})
	for i := range groups {
		of := &groups[i]
		of.Versions = slices.Clone(of.Versions)
		slices.SortStableFunc(of.Versions, func(a, b string) int {
			return rankOf(rank, schema.GroupVersion{Group: of.Name, Version: a}) -
				rankOf(rank, schema.GroupVersion{Group: of.Name, Version: b})
		})
	}
}

// rankOf returns the place of a key, which is behind all others if it has none.
func rankOf[K comparable](ranks map[K]int, key K) int {
	if rank, ok := ranks[key]; ok {
		return rank
	}
	return len(ranks) + 1<<20
}

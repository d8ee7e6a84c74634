// Package proxy passes requests on to another API server, as kube-aggregator does for the versions of an APIService. It
// is the transport half of aggregation: a controller elsewhere decides which backends exist, and which requests they
// get.
//
// A Backend is one such server. It takes the user from the request's context, names the user in the headers of a front
// proxy, and copies bodies in both directions without buffering them. An answer of a backend that breaks off reaches
// the client broken off, too: Backend.ServeHTTP panics with http.ErrAbortHandler.
//
// The package builds on net/http/httputil.ReverseProxy, and not on k8s.io/apimachinery/pkg/util/proxy, which wraps the
// same ReverseProxy. That package would link golang.org/x/net/html, k8s.io/streaming and go-flowrate, for features that
// an API server has no use for: links in HTML pages, and limits of bandwidth. It also dials upgrades past the
// transport, and logs to klog. This package adds what ReverseProxy lacks for API servers: it refuses an answer of
// success that doesn't switch protocols, and it ends an upgraded connection when either side ends.
//
// It may know packages auth, certs, request and timing.
package proxy

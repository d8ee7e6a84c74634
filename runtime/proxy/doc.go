// Package proxy passes requests on to another API server, as kube-aggregator does for the versions of an APIService. It
// is the transport half of aggregation: a controller elsewhere decides which backends exist and which requests they get.
//
// A Backend is one such server. It takes the user from the request's context, names the user in the headers of a front
// proxy, and copies bodies in both directions without buffering them. The answer of a backend that breaks off reaches
// the client broken off, too: Backend.ServeHTTP panics with http.ErrAbortHandler, as net/http/httputil.ReverseProxy does.
//
// The package builds on net/http/httputil.ReverseProxy, as k8s.io/apimachinery/pkg/util/proxy does, and not on that
// package, for three reasons. It would link golang.org/x/net/html, k8s.io/streaming and go-flowrate, for features that an
// API server has no use for: links in HTML pages, and limits of bandwidth. It dials upgrades past the pool, and it logs
// to klog. ReverseProxy copies upgrades by itself; what is missing, the package adds: an upgrade that the backend declines
// without an error is an error, and either end closes both.
//
// It may know packages auth, certs and request.
package proxy

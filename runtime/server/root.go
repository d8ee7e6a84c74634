package server

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/internal/host/release"
	"apigen.dev/runtime/internal/http/endpoint"
	"apigen.dev/runtime/internal/http/health"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/http/zpages"
	"apigen.dev/runtime/storage"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// root serves the paths that don't belong to the API, and passes all other requests to the API.
func (s *Server) root(metrics *metrics) http.Handler {
	version := jsonDocument(release.Version())
	paths := map[string]http.Handler{"/version": version, "/version/": version}
	if s.config.Profiling {
		maps.Copy(paths, zpages.Profiles())
	}
	administration := map[string]http.Handler{}
	if m, ok := s.config.Backend.(storage.Maintainer); ok {
		maps.Copy(administration, maintenance(m, s.config.Log, s.config.RequestTimeout))
	}
	maps.Copy(paths, s.config.Paths)
	checks := s.health()
	s.addMetrics(paths, administration, metrics, checks)
	s.addPages(paths, administration)
	s.paths = paths
	api := http.HandlerFunc(s.serveAPI)
	paths["/"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.table.Load().index.ServeHTTP(w, r)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case isHealth(path):
			checks.ServeHTTP(w, r)
		case s.config.Unlisted[path] != nil:
			readOnly(s.config.Unlisted[path]).ServeHTTP(w, r)
		case administration[path] != nil:
			administration[path].ServeHTTP(w, r)
		case paths[path] != nil:
			readOnly(paths[path]).ServeHTTP(w, r)
		case s.config.Profiling && strings.HasPrefix(path, "/debug/pprof"):
			readOnly(http.HandlerFunc(pprof.Index)).ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// addMetrics adds the metrics. DELETE may reset them, where the server is profiled, as in kube-apiserver.
func (s *Server) addMetrics(paths, administration map[string]http.Handler, m *metrics, checks *health.Handler) {
	for path, metrics := range map[string]prometheus.Gatherer{"/metrics": m.registry, "/metrics/slis": checks.SLIs()} {
		if s.config.Scraped == nil {
			paths[path] = promhttp.HandlerFor(metrics, promhttp.HandlerOpts{})
			continue
		}
		scraped := s.config.Scraped(metrics)
		paths[path] = scraped
		if s.config.Profiling {
			administration[path] = resettable(scraped)
		}
	}
}

// resettable lets DELETE pass beside what reads.
func resettable(scraped http.Handler) http.Handler {
	read := readOnly(scraped)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			scraped.ServeHTTP(w, r)
			return
		}
		read.ServeHTTP(w, r)
	})
}

// addPages adds the pages of package zpages. Not every user who may read paths may PUT one.
func (s *Server) addPages(paths, administration map[string]http.Handler) {
	if s.config.Flags != nil {
		paths["/flagz"] = zpages.Flags(s.config.Flags)
	}
	paths["/statusz"] = nil // it lists itself
	version := release.Version()
	paths["/statusz"] = zpages.Status(zpages.Process{
		Started: processStart, GoVersion: version.GoVersion, BinaryVersion: version.GitVersion,
		Paths: index(s.api, paths).Paths,
	})
	if s.config.Profiling && s.config.LogLevel != nil {
		administration["/debug/flags/v"] = zpages.Level(s.config.LogLevel)
	}
}

// processStart is when the process began, as far as it knows itself.
var processStart = time.Now()

func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			respond.Error(w, r, apierrors.NewGenericServerResponse( // with kube-apiserver's text
				http.StatusMethodNotAllowed, strings.ToLower(r.Method), schema.GroupResource{}, "", "", 0, false))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func index(api *endpoint.API, others map[string]http.Handler) metav1.RootPaths {
	paths := append(api.Paths(), "/healthz", "/livez", "/readyz")
	for path := range others {
		if !strings.HasSuffix(path, "/") { // another spelling
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return metav1.RootPaths{Paths: paths}
}

func jsonDocument[T version.Info | metav1.RootPaths](value T) http.Handler {
	body, err := json.MarshalIndent(value, "", "  ")
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body) // an error means that the client closed the connection
	})
}

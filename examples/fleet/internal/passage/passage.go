// Package passage passes requests for an object on to the agent that the object names, as kube-apiserver passes
// requests for a pod on to a kubelet.
package passage

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Agent names the agent of an object. Address is its URL, or empty if there is none.
type Agent struct {
	Resource      schema.GroupResource
	Name, Address string
}

// Connect returns a handler that passes requests on to a path of the agent, including upgrades.
func (a Agent) Connect(name string) (http.Handler, error) {
	target, err := a.url(name)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}, nil
}

// Proxy connects requests to the agent, with the scheme and the port that a request names, if it names any.
func (a Agent) Proxy() (http.Handler, error) {
	target, err := a.url("proxy")
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		to := *target
		if named := r.In.URL; named.Port() != "" {
			to.Scheme, to.Host = cmp.Or(named.Scheme, to.Scheme), net.JoinHostPort(to.Hostname(), named.Port())
		}
		r.SetURL(&to)
	}}, nil
}

// Log opens the agent's log. A nil tail is all of it.
func (a Agent) Log(ctx context.Context, follow bool, tail *int64) (io.ReadCloser, error) {
	target, err := a.url("log")
	if err != nil {
		return nil, err
	}
	query := url.Values{"follow": {strconv.FormatBool(follow)}}
	if tail != nil {
		query.Set("tailLines", strconv.FormatInt(*tail, 10))
	}
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, apierrors.NewServiceUnavailable("the agent does not answer")
	}
	return response.Body, nil
}

func (a Agent) url(name string) (*url.URL, error) {
	target, err := url.Parse(a.Address)
	if err != nil || target.Host == "" {
		return nil, apierrors.NewConflict(a.Resource, a.Name,
			fmt.Errorf("it has no agent: status.address is %q", a.Address))
	}
	target.Path = path.Join("/", target.Path, name)
	return target, nil
}

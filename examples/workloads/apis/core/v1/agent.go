package v1

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// agent runs a pod.
type agent struct {
	pod  *corev1.Pod
	port string
}

// agentPort is the annotation that names an unusual port of a pod's agent. The agent's machine is always status.hostIP,
// which only users who may write pods/status can set.
const (
	agentPort   = "workloads.example.com/agent-port"
	defaultPort = "10255"
)

func agentOf(pod *corev1.Pod) agent {
	port := pod.Annotations[agentPort]
	if port == "" {
		port = defaultPort
	}
	return agent{pod, port}
}

// url returns the URL of a path of the agent.
func (a agent) url(path string) (*url.URL, error) {
	port, err := strconv.ParseUint(a.port, 10, 16)
	if err != nil || net.ParseIP(a.pod.Status.HostIP) == nil {
		return nil, apierrors.NewConflict(pods, a.pod.Name,
			fmt.Errorf("it runs nowhere yet: status.hostIP is %q", a.pod.Status.HostIP))
	}
	host := net.JoinHostPort(a.pod.Status.HostIP, strconv.FormatUint(port, 10))
	return &url.URL{Scheme: "http", Host: host, Path: "/" + path + "/" + a.pod.Namespace + "/" + a.pod.Name}, nil
}

// connect passes a request on, with its query and upgrades.
func (a agent) connect(path string) (http.Handler, error) {
	target, err := a.url(path)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}, nil
}

// log opens the output of a container.
func (a agent) log(ctx context.Context, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	target, err := a.url("log")
	if err != nil {
		return nil, err
	}
	query := url.Values{"container": {options.Container}, "follow": {strconv.FormatBool(options.Follow)}}
	if options.TailLines != nil {
		query.Set("tailLines", strconv.FormatInt(*options.TailLines, 10))
	}
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, apierrors.NewServiceUnavailable("the agent of the pod does not answer")
	}
	return response.Body, nil
}

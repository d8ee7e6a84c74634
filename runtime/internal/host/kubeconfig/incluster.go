package kubeconfig

import (
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
)

// mounted is where kubelet mounts the credentials of a pod's service account.
const mounted = "/var/run/secrets/kubernetes.io/serviceaccount"

// ErrNotInCluster is the error of InCluster outside of a pod.
var ErrNotInCluster = errors.New("the process runs in no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT " +
	"are not set")

// InCluster returns how a process in a pod of a cluster reaches the cluster's API server, as the service account of the
// pod.
func InCluster() (*Config, error) { return inCluster(os.Getenv, mounted) }

func inCluster(getenv func(string) string, dir string) (*Config, error) {
	host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, ErrNotInCluster
	}
	return &Config{
		Server:    &url.URL{Scheme: "https", Host: net.JoinHostPort(host, port)},
		CA:        Source{File: filepath.Join(dir, "ca.crt")},
		TokenFile: filepath.Join(dir, "token"),
	}, nil
}

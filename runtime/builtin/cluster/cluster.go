// Package cluster makes the serving certificate of a server that runs in a Kubernetes cluster, behind the cluster's
// aggregator, without anything else in the cluster. All replicas share an authority in a Secret. Each signs a
// certificate for itself, renews it in memory, and keeps spec.caBundle of the server's APIServices equal to what the
// Secret says. The authority is replaced long before it ends, in steps that no client notices.
//
// It may know packages kubeconfig, registry and server.
package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Feature is for servers whose serving certificate comes from a Secret of the cluster: the flag
// --cluster-certificate-secret, and those about it. Without that flag it does nothing.
type Feature struct {
	secret, service, kubeconfig string
}

var _ server.Feature = (*Feature)(nil)

const (
	secretFlag     = "cluster-certificate-secret" //nolint:gosec // it is the name of a flag
	serviceFlag    = "cluster-certificate-service"
	kubeconfigFlag = "cluster-certificate-kubeconfig"
)

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (c *Feature) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.secret, secretFlag, "",
		"Secret (namespace/name) with the authority of the certificate that the server shows to the cluster; it must "+
			"exist, and the server fills it if it is empty")
	flags.StringVar(&c.service, serviceFlag, "",
		"Service (namespace/name) by which the cluster reaches the server; the server keeps the caBundle of its own "+
			"APIServices that lead there")
	flags.StringVar(&c.kubeconfig, kubeconfigFlag, "", "kubeconfig of the cluster that has the Secret and the "+
		"APIServices; the service account of the pod if none is named")
}

// Configure implements server.Feature. It asks nothing of the cluster: the hook does.
func (c *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	if c.secret == "" {
		if c.service != "" || c.kubeconfig != "" {
			return server.Contribution{}, fmt.Errorf("--%s and --%s need --%s", serviceFlag, kubeconfigFlag, secretFlag)
		}
		return server.Contribution{}, nil
	}
	secret, secretErr := parseName(secretFlag, c.secret)
	service, serviceErr := parseName(serviceFlag, c.service)
	if err := errors.Join(secretErr, serviceErr); err != nil {
		return server.Contribution{}, err
	}
	log := cmp.Or(config.Log, slog.Default())
	cluster, err := c.connect(log)
	if err != nil {
		return server.Contribution{}, fmt.Errorf("--%s: %w", kubeconfigFlag, err)
	}
	k := &keeper{
		cluster: cluster, secret: secret, service: service, apiServices: apiServices(config.Groups), now: time.Now,
		log: log,
	}
	return server.Contribution{
		ServingCertificate: func(t *tls.Config) { t.GetCertificate = k.getCertificate(t.GetCertificate) },
		Hooks:              []server.Hook{{Name: "cluster-certificate", PostStart: k.start, Run: k.run}},
	}, nil
}

func (c *Feature) connect(log *slog.Logger) (*client, error) {
	read := kubeconfig.InCluster
	if c.kubeconfig != "" {
		read = func() (*kubeconfig.Config, error) { return kubeconfig.Read(c.kubeconfig) }
	}
	config, err := read()
	if err != nil {
		return nil, err
	}
	made, err := config.Client(log, messageLimit)
	if err != nil {
		return nil, err
	}
	return &client{http: made, server: config.Server}, nil
}

// name is that of an object in a namespace.
type name struct{ namespace, name string }

func parseName(flag, value string) (name, error) {
	namespace, own, ok := strings.Cut(value, "/")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(own)) > 0 {
		return name{}, fmt.Errorf("--%s: %q is no namespace/name", flag, value)
	}
	return name{namespace, own}, nil
}

// String returns namespace/name.
func (n name) String() string { return n.namespace + "/" + n.name }

// hosts are the names by which a cluster reaches a Service.
func (n name) hosts() []string {
	host := n.name + "." + n.namespace + ".svc"
	return []string{host, host + ".cluster.local"}
}

// apiServices returns the names of the APIServices that send the versions of groups to a server.
func apiServices(groups []registry.Group) []string {
	var names []string
	for _, group := range groups {
		for _, version := range group.Versions {
			if group.Name != "" { // each cluster has the core group itself
				names = append(names, version+"."+group.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

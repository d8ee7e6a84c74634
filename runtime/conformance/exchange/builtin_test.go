package exchange

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/conformance/exchange/apis"
	"apigen.dev/runtime/conformance/exchange/builtin"
	namingv1 "apigen.dev/runtime/conformance/exchange/builtin/naming/v1"
	"apigen.dev/runtime/registry"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// startBuiltin is a server of ours with the kinds of package builtin beside those of the scripts, and its kubeconfig.
func startBuiltin(t *testing.T) (*world, []byte) {
	t.Helper()
	groups := builtin.Groups(echo[*corev1.Binding]{}, noComponents{}, echo[*namingv1.LocalReview]{},
		echo[*namingv1.NamelessReview]{}, echo[*namingv1.Review]{})
	server := apitest.Start(t, append(apis.Groups(), groups...)...)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(server.CA)
	return &world{host: strings.TrimPrefix(server.URL, "https://"), token: server.Token,
		tls: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}, server.Kubeconfig
}

// echo is the provider of reviews that answers with what it gets.
type echo[T api.Object] struct{}

func (echo[T]) Create(_ context.Context, obj T, _ bool) (T, error) { return obj, nil }

// noComponents is the provider of component statuses of a server without components.
type noComponents struct{}

func (noComponents) Get(_ context.Context, _, name string) (*corev1.ComponentStatus, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("componentstatuses"), name)
}

func (noComponents) List(context.Context, string, api.Selection) (*registry.List[*corev1.ComponentStatus], error) {
	return &registry.List[*corev1.ComponentStatus]{}, nil
}

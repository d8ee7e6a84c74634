package exchange

import (
	"context"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/conformance/builtin"
	namingv1 "apigen.dev/runtime/conformance/builtin/naming/v1"
	"apigen.dev/runtime/registry"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
)

// startBuiltin is a server of ours with the kinds of package builtin, and its kubeconfig.
func startBuiltin(t *testing.T) (*world, []byte) {
	t.Helper()
	server := apitest.Start(t, builtinGroups()...)
	return worldOf(server), server.Kubeconfig
}

func builtinGroups() []registry.Group {
	return builtin.Groups(echo[*corev1.Binding]{}, noComponents{}, echo[*namingv1.LocalReview]{},
		echo[*namingv1.NamelessReview]{}, echo[*namingv1.Review]{})
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

// The folders of the scripts about built-in kinds.
const (
	builtinHTTP    = "builtin/http"
	builtinKubectl = "builtin/kubectl"
)

// TestBuiltin: requests and commands about built-in kinds with few verbs, or with names of their own, are answered as
// kube-apiserver answers them.
func TestBuiltin(t *testing.T) {
	ours, kubeconfig := startBuiltin(t)
	for _, path := range scripts(t, builtinHTTP) {
		s := readScript(t, path)
		for _, scene := range s.scenes {
			t.Run(scene.name, func(t *testing.T) { replay(t, ours, scene) })
		}
		if *differ {
			s.write(t)
		}
	}
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	replayKubectl(t, ours, newKubectl(t, *config), builtinKubectl)
}

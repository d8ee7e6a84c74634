package conformance

import (
	"context"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	library "example.com/library/apis"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// inHook starts a server, and returns the context of a hook.
func inHook(t *testing.T, groups ...registry.Group) context.Context {
	t.Helper()
	contexts := make(chan context.Context, 1)
	apitest.StartWith(t, func(config *server.Config) {
		config.Hooks = []server.Hook{{Name: "test", Run: func(ctx context.Context) error {
			contexts <- ctx
			return nil
		}}}
	}, groups...)
	return <-contexts
}

// throughTransport is how a hook configures client-go.
func throughTransport(ctx context.Context) *rest.Config {
	loopback := server.LoopbackFrom(ctx)
	return &rest.Config{Host: loopback.Host, Transport: loopback.Transport, QPS: -1}
}

func throughKubeconfig(ctx context.Context, t *testing.T) *rest.Config {
	t.Helper()
	kubeconfig, err := server.LoopbackFrom(ctx).Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// client-go works through both ways of the loopback: requests, watches that it ends, and errors.
func TestLoopback(t *testing.T) {
	ctx := inHook(t, library.Groups()...)
	for name, config := range map[string]*rest.Config{
		"transport": throughTransport(ctx), "kubeconfig": throughKubeconfig(ctx, t),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := dynamic.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			in := c.Resource(books).Namespace(name)
			watch, err := in.Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, title := range []string{"Emma", "Persuasion"} {
				made, err := in.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "library.example.com/v1", "kind": "Book",
					"metadata": map[string]any{"generateName": "a"}, "spec": map[string]any{"title": title},
				}}, metav1.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				event := <-watch.ResultChan()
				if got, ok := event.Object.(*unstructured.Unstructured); !ok || got.GetUID() != made.GetUID() {
					t.Errorf("event %v", event)
				}
			}
			watch.Stop()
			if list, err := in.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 2 {
				t.Errorf("%v, %v", list, err)
			}
			if _, err := in.Get(t.Context(), "none", metav1.GetOptions{}); err == nil {
				t.Error("there is an object that nobody made")
			}
		})
	}
}

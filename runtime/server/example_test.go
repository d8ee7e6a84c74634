package server_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/core/wiring"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/embedded"
	"apigen.dev/runtime/storage/memory"
)

// The main of a server: its groups, the ready-made features, and an etcd inside the process. Main reads the flags.
func ExampleMain() {
	_ = func() {
		server.Main(server.Program{
			Name:     "shop",
			Groups:   []registry.Group{wiring.Group()}, // a project passes its generated apis.Groups()
			Features: builtin.Standalone(),
			Embedded: embedded.Etcd{},
		})
	}
}

// A server inside another program, with a hook that makes an object before the server is ready.
func ExampleNew() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	tls := httptest.NewTLSServer(nil) // it has a certificate for 127.0.0.1, and a client that trusts it
	defer tls.Close()
	made := make(chan string)
	hook := server.Hook{Name: "defaults", PostStart: func(ctx context.Context) error {
		maps, err := reach.Of[*corev1.ConfigMap](ctx)
		if err != nil {
			return err
		}
		m, err := maps.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}}, reach.Write{})
		if err == nil {
			made <- m.Name
		}
		return err
	}}
	s, err := server.New(ctx, server.Config{
		Groups:       []registry.Group{wiring.Group()},
		Storage:      server.Storage{Backend: memory.New()},
		Serving:      server.Serving{Listener: listener, Certificate: tls.TLS.Certificates[0]},
		Contribution: server.Contribution{Hooks: []server.Hook{hook}},
	})
	if err != nil {
		panic(err)
	}
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	fmt.Println("made", <-made)
	answer, err := tls.Client().Get(s.URL() + "/livez/ping")
	if err != nil {
		panic(err)
	}
	answer.Body.Close()
	fmt.Println(answer.StatusCode == http.StatusOK)
	stop()
	fmt.Println("ended:", <-ended)
	// Output:
	// made settings
	// true
	// ended: <nil>
}

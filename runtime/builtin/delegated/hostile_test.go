package delegated

import (
	"context"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// TestHostileCluster: a cluster that redirects the question for the ConfigMap, never ends an answer, hangs, or answers
// something else, changes nothing that is believed, costs bounded bytes and time, and leads the server nowhere else.
func TestHostileCluster(t *testing.T) {
	var endless testbed.Endless
	for name, how := range map[string]http.HandlerFunc{
		"redirects": testbed.Redirecting(t),
		"500 MB":    endless.ServeHTTP,
		"hangs":     func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"something else": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"kind":"Secret","items":{"metadata":{"name":"`+configMap+`"}}}`)
		},
		"another ConfigMap": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"items":[{"metadata":{"name":"other"},"data":{"client-ca-file":"x"}}]}`)
		},
	} {
		server := httptest.NewUnstartedServer(how)
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		config := kubeconfig.Config{
			Server: u, CA: kubeconfig.Source{Data: encode(server.Certificate().Raw)}, Token: "secret",
		}
		client, err := config.Client(slog.New(slog.DiscardHandler), 0)
		if err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.DiscardHandler)
		f := &follower{client: client, server: u, log: log, take: func(data map[string]string) {
			t.Errorf("%s: %v was taken", name, data)
		}}
		ctx, cancel := context.WithCancel(t.Context())
		if name == "hangs" {
			cancel() // what bounds a reading is the context alone
		}
		if _, err := f.list(ctx); (err == nil) != (name == "another ConfigMap") {
			t.Errorf("the list, %s: %v", name, err)
		}
		if err := f.watch(ctx, "1"); err == nil && !strings.Contains("another ConfigMap something else", name) {
			t.Errorf("the watch, %s: no error", name)
		}
		cancel()
		client.CloseIdleConnections()
		server.Close()
	}
	if endless.Sent() > 64<<20 {
		t.Errorf("%d bytes were read", endless.Sent())
	}
}

// TestHangingLookup: a cluster that takes the question for the authorities and never answers holds up the start of a
// server for ten seconds, after which it starts if it tolerates that. The server asks again each minute, and its end
// ends the question.
func TestHangingLookup(t *testing.T) {
	for _, tolerates := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			pipes := testbed.NewPipes()
			var asked atomic.Int64
			hanging := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				<-r.Context().Done()
			})}
			served := make(chan error)
			go func() { served <- hanging.Serve(pipes) }()
			cluster := &kubeconfig.Config{Server: &url.URL{Scheme: "http", Host: "cluster"}, Dial: pipes.Dial}
			access := &Feature{flags: pflag.NewFlagSet("", pflag.ContinueOnError), tolerate: tolerates}
			var in auth.Authentication
			began := time.Now()
			hook, err := access.lookup(t.Context(), &in, cluster, slog.New(slog.DiscardHandler))
			if took := time.Since(began); took != reviewWithin || (err == nil) != tolerates {
				t.Errorf("the lookup took %s: %v", took, err)
			}
			if tolerates {
				follows(t, hook, &asked)
			}
			_ = hanging.Close()
			<-served
		})
	}
}

// follows runs the hook that follows the authorities for some minutes, and wants it to end at once.
func follows(t *testing.T, hook server.Hook, asked *atomic.Int64) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- hook.Run(ctx) }()
	time.Sleep(10 * time.Minute)
	end()
	began := time.Now()
	if err := <-ended; err == nil || time.Since(began) != 0 || asked.Load() < 5 {
		t.Errorf("%v after %s; the cluster was asked %d times", err, time.Since(began), asked.Load())
	}
}

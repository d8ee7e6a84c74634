package apiextensions

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/testbed"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestHangingConversion: a webhook that hangs costs the conversion of a list the time of one call, not of one for each
// batch.
func TestHangingConversion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipes, asked := testbed.NewPipes(), atomic.Int64{}
		server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		})}
		ended := make(chan error)
		go func() { ended <- server.Serve(pipes) }()
		transport := &http.Transport{DialContext: pipes.Dial}
		hook := &webhook{version: "v1", client: func() (*http.Client, string, error) {
			return &http.Client{Transport: transport}, "http://webhook.example.com", nil
		}}
		objects := make([]map[string]any, 2*most+1)
		for i := range objects {
			objects[i] = map[string]any{"apiVersion": "g/v1", "kind": "Thing", "metadata": map[string]any{"name": "a"}}
		}
		begin := time.Now()
		_, errs := hook.Convert(t.Context(), objects, schema.GroupVersion{Group: "g", Version: "v2"})
		if took := time.Since(begin); took != callTimeout || asked.Load() != 1 {
			t.Errorf("it was asked %d times, which took %s", asked.Load(), took)
		}
		for i, err := range errs {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("object %d: %v", i, err)
			}
		}
		transport.CloseIdleConnections()
		_ = server.Close()
		<-ended
	})
}

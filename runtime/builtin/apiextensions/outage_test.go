package apiextensions_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
)

// failing is a backend that fails requests for keys with a part that a test says, as if storage were away.
type failing struct {
	storage.Backend
	t             *testing.T
	gets, changes atomic.Value  // a part of the keys that can't be read, and of those that can't be changed; "" is none
	failed        chan struct{} // holds one for a request that failed
}

func (f *failing) refuses(part *atomic.Value, key string) bool {
	text, _ := part.Load().(string)
	if text == "" || !strings.Contains(key, text) {
		return false
	}
	select {
	case f.failed <- struct{}{}:
	default:
	}
	return true
}

func (f *failing) Get(
	ctx context.Context, key string, options storage.GetOptions,
) (*storage.KeyValue, int64, error) {
	if f.refuses(&f.gets, key) {
		return nil, 0, storage.ErrUnavailable
	}
	return f.Backend.Get(ctx, key, options)
}

func (f *failing) Put(
	ctx context.Context, key string, value []byte, expect int64, ttl time.Duration,
) (int64, error) {
	if expect > 0 && f.refuses(&f.changes, key) {
		return 0, storage.ErrUnavailable
	}
	return f.Backend.Put(ctx, key, value, expect, ttl)
}

// awaitFailure waits until one more request has failed.
func (f *failing) awaitFailure() {
	f.t.Helper()
	select {
	case <-f.failed:
	case <-time.After(time.Minute):
		f.t.Fatal("nothing fails: the server doesn't try again")
	}
}

func startFailing(t *testing.T) (client, *failing) {
	t.Helper()
	feature, backend := &apiextensions.Feature{}, &failing{t: t, failed: make(chan struct{}, 1)}
	s := apitest.StartWith(t, func(c *server.Config) {
		backend.Backend, c.Backend = c.Backend, backend
		if err := c.Use(t.Context(), feature); err != nil {
			t.Fatal(err)
		}
	}, feature.Groups()...)
	c := client{s, t}
	c.await(http.StatusOK, "/readyz", nil)
	return c, backend
}

const (
	gadgetDefinition = definitions + "/gadgets.shop.example.com"
	versionsOfGadget = "storageversions/gadgets."
)

// TestChangeWhileStorageIsAway: a definition that changes while storage is away is served as it was, and as it is once
// storage is back.
func TestChangeWhileStorageIsAway(t *testing.T) {
	c, backend := startFailing(t)
	c.establish(gadget, "gadgets.shop.example.com")
	c.want(http.StatusCreated, http.MethodPost, gadgets,
		"{apiVersion: shop.example.com/v1, kind: Gadget, metadata: {name: a}, spec: {size: 1}}")
	backend.gets.Store(versionsOfGadget)
	c.want(http.StatusOK, http.MethodPatch, gadgetDefinition, strings.Replace(gadget[strings.Index(gadget, "spec:"):],
		"  size: {type: integer}", "  more: {type: string}\n              size: {type: integer}", 1))
	backend.awaitFailure()
	backend.awaitFailure() // the server has installed what the first one left
	c.want(http.StatusOK, http.MethodGet, gadgets, "")
	c.await(http.StatusOK, gadgetDefinition, has("Established", "True"))
	backend.gets.Store("")
	c.await(http.StatusOK, gadgets+"/a", func(map[string]any) bool {
		_, answer := c.do(http.MethodPatch, gadgets+"/a", "{spec: {more: kept}}")
		return at(answer, "spec", "more") == "kept"
	})
}

// TestDefinitionWhileStorageIsAway: a definition that comes while storage is away is established and served once
// storage is back.
func TestDefinitionWhileStorageIsAway(t *testing.T) {
	t.Run("opening", func(t *testing.T) {
		c, backend := startFailing(t)
		comes(c, backend, &backend.gets, versionsOfGadget)
	})
	t.Run("status", func(t *testing.T) {
		c, backend := startFailing(t)
		comes(c, backend, &backend.changes, "customresourcedefinitions/gadgets.")
	})
}

func comes(c client, backend *failing, requests *atomic.Value, part string) {
	c.t.Helper()
	requests.Store(part)
	c.want(http.StatusCreated, http.MethodPost, definitions, gadget)
	backend.awaitFailure()
	backend.awaitFailure()
	requests.Store("")
	c.await(http.StatusOK, gadgetDefinition, has("Established", "True"))
	c.await(http.StatusOK, gadgets, nil)
}

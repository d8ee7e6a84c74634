package apiextensions_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
)

const (
	lampName = "lamps.shop.example.com"
	lampKeys = "/registry/shop.example.com/lamps/"
)

// startLamps starts a server whose lamps are stored as v1, and then as v2.
func startLamps(t *testing.T) (client, storage.Backend) {
	t.Helper()
	feature := &apiextensions.Feature{}
	var backend storage.Backend
	s := apitest.StartWith(t, func(c *server.Config) {
		if err := c.Use(t.Context(), feature); err != nil {
			t.Fatal(err)
		}
		backend = c.Backend
	}, feature.Groups()...)
	c := client{s, t}
	c.establish(lamp, lampName)
	create := func(name string) {
		c.want(http.StatusCreated, http.MethodPost, "/apis/shop.example.com/v1/namespaces/ns/lamps",
			"{apiVersion: shop.example.com/v1, kind: Lamp, metadata: {name: "+name+"}}")
	}
	create("a")
	create("b")
	c.want(http.StatusOK, http.MethodPut, definitions+"/"+lampName, c.changed(func(text string) string {
		return strings.NewReplacer("storage: true", "storage: false", "storage: false", "storage: true").Replace(text)
	}))
	create("c")
	return c, backend
}

// changed is the definition of lamps with a change, as it replaces the one that is there.
func (c client) changed(change func(string) string) string {
	now := c.want(http.StatusOK, http.MethodGet, definitions+"/"+lampName, "")
	return strings.Replace(change(lamp), "metadata: {", fmt.Sprintf("metadata: {resourceVersion: %q, ",
		at(now, "metadata", "resourceVersion")), 1)
}

// migrate runs a migration beside the server. before runs before the objects are migrated.
func migrate(t *testing.T, backend storage.Backend, before func()) {
	t.Helper()
	m := server.Migrator{Config: func(registry.Resource) registry.Config {
		return registry.Config{Backend: backend, Prefix: "/registry", DisableCache: true}
	}}
	m.Resource = func(ctx context.Context, r registry.Resource) (store.Migration, error) {
		before()
		return registry.Migrate(ctx, r, m.Config(r), store.MigrateOptions{})
	}
	if err := (&apiextensions.Feature{}).Migrate(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// migrating is the condition of lamps, as text.
func (c client) migrating() (condition, stored string) {
	c.t.Helper()
	crd := c.want(http.StatusOK, http.MethodGet, definitions+"/"+lampName, "")
	conditions, _ := at(crd, "status", "conditions").([]any)
	for _, one := range conditions {
		if at(one, "type") == "StorageMigrating" {
			condition = fmt.Sprint(at(one, "status"), " ", at(one, "reason"), " ", at(one, "message"))
		}
	}
	return condition, fmt.Sprint(at(crd, "status", "storedVersions"))
}

// A migration writes custom resources in the storage version, and says so in the status of their definition.
func TestMigration(t *testing.T) {
	c, backend := startLamps(t)
	if condition, stored := c.migrating(); condition != "" || stored != "[v1 v2]" {
		t.Fatalf("before: %s, %s", condition, stored)
	}
	migrate(t, backend, func() {
		if condition, stored := c.migrating(); !strings.HasPrefix(condition, "True MigrationRunning ") ||
			stored != "[v1 v2]" {
			t.Errorf("meanwhile: %s, %s", condition, stored)
		}
	})
	const want = "False MigrationSucceeded The migration has succeeded and the stored versions have been updated"
	if condition, stored := c.migrating(); condition != want || stored != "[v2]" {
		t.Errorf("after: %s, %s", condition, stored)
	}
	found, err := backend.Range(t.Context(), storage.RangeRequest{Prefix: lampKeys})
	if err != nil || len(found.Items) != 3 {
		t.Fatalf("%v, %v", found, err)
	}
	for _, kv := range found.Items {
		if !strings.Contains(string(kv.Value), `"apiVersion":"shop.example.com/v2"`) {
			t.Errorf("%s is %s", kv.Key, kv.Value)
		}
	}
	// The version may go now.
	c.want(http.StatusOK, http.MethodPut, definitions+"/"+lampName, c.changed(func(text string) string {
		first, second := strings.Index(text, "  - name: v1"), strings.Index(text, "  - name: v2")
		only := strings.ReplaceAll(text[second:], "*schema", "{type: object}")
		return text[:first] + strings.Replace(only, "storage: false", "storage: true", 1)
	}))
}

// A migration that leaves an object, or during which the definition changes, keeps the versions that may be stored.
func TestMigrationThatFails(t *testing.T) {
	for what, want := range map[string]string{
		"corrupt": "False MigrationFailed The migration has failed",
		"changed": "False MigrationSucceeded The migration has succeeded but the stored versions have not been " +
			"updated due to a generation mismatch",
	} {
		c, backend := startLamps(t)
		migrate(t, backend, func() {
			if what == "changed" {
				c.want(http.StatusOK, http.MethodPatch, definitions+"/"+lampName,
					"spec: {names: {categories: [all]}}")
				return
			}
			if _, err := backend.Put(t.Context(), lampKeys+"ns/d", []byte("{"), 0, 0); err != nil {
				t.Error(err)
			}
		})
		if condition, stored := c.migrating(); condition != want || stored != "[v1 v2]" {
			t.Errorf("%s: %s, %s", what, condition, stored)
		}
	}
}

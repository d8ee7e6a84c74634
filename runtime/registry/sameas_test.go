package registry_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var articleKind = schema.GroupVersionKind{Group: "stock.example.com", Version: "v1", Kind: "Article"}

// stock is the group stock.example.com, whose articles are the widgets of shop.example.com. Both groups have a v1.
func stock() registry.Resource { return stockWith(func(*registry.Definition[*shop.Widget]) {}) }

// stockWith is stock with another definition.
func stockWith(change func(d *registry.Definition[*shop.Widget])) registry.Resource {
	of := shop.Definition()
	d := registry.Definition[*shop.Widget]{
		Group: "stock.example.com",
		Names: api.Names{Kind: "Article", Plural: "articles"},
		Scope: of.Scope, New: of.New, Storage: of.Storage, StoragePrefix: "shop.example.com/widgets",
		Strategy: of.Strategy, Subresources: of.Subresources,
		Versions: []codec.Version[*shop.Widget]{shop.VersionV1beta1(api.VersionInfo{Name: "v1",
			Columns: []api.Column{{Name: "Colour", Type: "string"}}}, func(w *shop.WidgetV1beta1) api.Cell {
			return api.Text(w.Spec.Colour)
		})},
		SelectableFields: []api.SelectableField[*shop.Widget]{
			{Path: "spec.colour", Of: "spec.color"},
			{Path: "status.phase", Value: func(w *shop.Widget) string { return w.Phase }},
		},
	}
	change(&d)
	return registry.NewSameAs(d, registry.StoredResource{Group: of.Group, Kind: of.Names.Kind, Plural: of.Names.Plural})
}

// openBoth opens widgets and articles on one backend.
func openBoth(t *testing.T, backend storage.Backend) (widgets, articles *bench) {
	t.Helper()
	resources := []registry.Resource{registry.New(shop.Definition()), stock()}
	schemas := ownership.NewSchemas("shop.example.com", shop.Documents())
	schemas.Add("stock.example.com", shop.DocumentsOf(articleKind))
	config := registry.Config{Schemas: schemas, Shared: registry.NewShared(resources)}
	return openOver(t, backend, resources[0], config), openOver(t, backend, resources[1], config)
}

const ofStock = "stock.example.com/v1"

func inVersion(version string) verb.Form { return verb.Form{Version: version} }

func text(r verb.Rendition) string { return string(rendition.Whole(r)) }

func mustContain(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s\nlacks %s", text, part)
		}
	}
}

// createBoth creates widget a, and article b.
func createBoth(t *testing.T, widgets, articles *bench) {
	t.Helper()
	_, err := widgets.Create(t.Context(), "ns", verb.Body{Version: "v1",
		Data: []byte(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)}, verb.WriteOptions{Form: inVersion("v1"),
		FieldManager: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = articles.Create(t.Context(), "ns", verb.Body{Version: ofStock,
		Data: []byte(`{"apiVersion":"stock.example.com/v1","kind":"Article","metadata":{"name":"b"},` +
			`"spec":{"colour":"blue","parts":"x,y"}}`)},
		verb.WriteOptions{Form: inVersion(ofStock), FieldManager: "stock"})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTwoGroups tests that what is written in one group is read in the other, from one key.
func TestTwoGroups(t *testing.T) {
	widgets, articles := openBoth(t, memory.New())
	createBoth(t, widgets, articles)
	for name, color := range map[string]string{"a": "red", "b": "blue"} {
		widget, err := widgets.Get(t.Context(), "ns", name, "", inVersion("v1"))
		if err != nil {
			t.Fatal(err)
		}
		mustContain(t, text(widget), `"kind":"Widget","apiVersion":"shop.example.com/v1"`, `"color":"`+color+`"`)
		article, err := articles.Get(t.Context(), "ns", name, "", inVersion(ofStock))
		if err != nil {
			t.Fatal(err)
		}
		mustContain(t, text(article), `"kind":"Article","apiVersion":"stock.example.com/v1"`, `"colour":"`+color+`"`)
		value, _ := widgets.stored("/registry/shop.example.com/widgets/ns/" + name)
		mustContain(t, value, `"kind":"Widget","apiVersion":"shop.example.com/v1"`)
	}
	count, err := widgets.backend.Count(t.Context(), "/registry/")
	if err != nil || count != 3 { // and the record of versions
		t.Errorf("%d keys, %v", count, err)
	}
	page, err := articles.List(t.Context(), "", verb.ListOptions{}, verb.Form{Version: ofStock, Shape: verb.Row})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	for row := range page.Items {
		mustContain(t, string(row.Payload), `"cells":["`)
	}
	_, err = articles.Get(t.Context(), "ns", "none", "", inVersion(ofStock))
	if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), `articles.stock.example.com "none" not found`) {
		t.Error(err)
	}
}

// TestTwoGroupsWatch tests that watches of both groups see one object.
func TestTwoGroupsWatch(t *testing.T) {
	widgets, articles := openBoth(t, memory.New())
	var watches [2]verb.Watch
	for i, b := range []*bench{widgets, articles} {
		w, err := b.Watch(t.Context(), "ns", api.WatchOptions{}, inVersion([]string{"v1", ofStock}[i]))
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		watches[i] = w
	}
	createBoth(t, widgets, articles)
	for i, want := range []string{`"color":"`, `"colour":"`} {
		for seen := 0; seen < 2; {
			events, err := watches[i].Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				mustContain(t, text(e.Object), want)
				seen++
			}
		}
	}
}

// TestTwoGroupsSelect tests that each group has its own selectable fields, over indexes that they share.
func TestTwoGroupsSelect(t *testing.T) {
	widgets, articles := openBoth(t, memory.New())
	createBoth(t, widgets, articles)
	for _, c := range []struct {
		in       *bench
		version  string
		selector string
		want     []string
		err      string
	}{
		{widgets, "v1", "spec.color=red", []string{"a"}, ""},
		{articles, ofStock, "spec.colour=red", []string{"a"}, ""},
		{articles, ofStock, "spec.colour!=red", []string{"b"}, ""},
		{articles, ofStock, "status.phase=", []string{"a", "b"}, ""},
		{articles, ofStock, "spec.color=red", nil, `"spec.color" is not a known field selector`},
		{widgets, "v1", "spec.colour=red", nil, `"spec.colour" is not a known field selector`},
		{widgets, "v1", "status.phase=", nil, `"status.phase" is not a known field selector`},
	} {
		selector := fields.ParseSelectorOrDie(c.selector)
		page, err := c.in.List(t.Context(), "ns", verb.ListOptions{Selection: api.Selection{Fields: selector}},
			inVersion(c.version))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", c.selector, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for r := range page.Items {
			var object struct{ Metadata struct{ Name string } }
			if err := json.Unmarshal([]byte("{"+string(r.Payload)), &object); err != nil {
				t.Fatal(err)
			}
			names = append(names, object.Metadata.Name)
		}
		page.Close()
		if !slices.Equal(names, c.want) {
			t.Errorf("%s selects %v, not %v", c.selector, names, c.want)
		}
	}
}

// TestTwoGroupsOwnership tests that an apply in one group respects, and converts, the fields that were applied in the
// other.
func TestTwoGroupsOwnership(t *testing.T) {
	widgets, articles := openBoth(t, memory.New())
	apply := func(b *bench, version, manager, spec string, force bool) (string, error) {
		apiVersion, kind := "shop.example.com/v1", "Widget"
		if b == articles {
			apiVersion, kind = ofStock, "Article"
		}
		body := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"},"spec":%s}`, apiVersion, kind, spec)
		result, err := b.Patch(t.Context(), "ns", "a", "", verb.ApplyPatch,
			verb.Body{Version: version, Data: []byte(body)},
			verb.WriteOptions{Form: inVersion(version), FieldManager: manager, Force: force})
		return text(result.Object), err
	}
	if _, err := apply(articles, ofStock, "one", `{"colour":"red","notes":{"n":"1"}}`, false); err != nil {
		t.Fatal(err)
	}
	_, err := apply(widgets, "v1", "two", `{"color":"blue"}`, false)
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "one": .spec.colour`) {
		t.Errorf("the conflict is %v", err)
	}
	object, err := apply(widgets, "v1", "two", `{"color":"blue"}`, true)
	if err != nil {
		t.Fatal(err)
	}
	mustContain(t, object, `"manager":"one","operation":"Apply","apiVersion":"stock.example.com/v1"`,
		`"fieldsV1":{"f:spec":{"f:notes":{"f:n":{}}}}`,
		`"manager":"two","operation":"Apply","apiVersion":"shop.example.com/v1"`,
		`"fieldsV1":{"f:spec":{"f:color":{}}}`)
	if object, err = apply(articles, ofStock, "one", `{}`, false); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(object, `"notes"`) || !strings.Contains(object, `"colour":"blue"`) {
		t.Errorf("what one no longer applies is still there, or what two applied isn't: %s", object)
	}
}

// TestOneGroupOfTwo tests that either group can be served alone, over the same objects.
func TestOneGroupOfTwo(t *testing.T) {
	backend := memory.New()
	widgets, articles := openBoth(t, backend)
	createBoth(t, widgets, articles)
	for _, b := range []*bench{widgets, articles} {
		if err := b.Handle.Close(); err != nil {
			t.Fatal(err)
		}
	}
	all := []registry.Resource{stock(), registry.New(shop.Definition())}
	alone, err := all[0].Open(t.Context(), registry.Config{Backend: backend, Prefix: "/registry",
		Shared: registry.NewShared(all)})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	article, err := alone.Get(t.Context(), "ns", "a", "", inVersion(ofStock))
	if err != nil {
		t.Fatal(err)
	}
	mustContain(t, text(article), `"colour":"red"`)
	_, err = stock().Open(t.Context(), registry.Config{Backend: backend, Prefix: "/registry"})
	if err == nil || !strings.Contains(err.Error(), `add the group "shop.example.com"`) {
		t.Error(err)
	}
}

// TestDistinct tests that objects which two groups serve are visited once.
func TestDistinct(t *testing.T) {
	widgets, gadgets := registry.New(shop.Definition()), registry.New(shop.Gadgets())
	for _, c := range []struct{ all, want []registry.Resource }{
		{[]registry.Resource{widgets, stock(), gadgets}, []registry.Resource{widgets, gadgets}},
		{[]registry.Resource{stock(), widgets}, []registry.Resource{widgets}},
		{[]registry.Resource{gadgets}, []registry.Resource{gadgets}},
	} {
		if got := verb.Distinct(c.all); !slices.Equal(got, c.want) {
			t.Errorf("%d of %d", len(got), len(c.all))
		}
	}
	alone := stock()
	if got := verb.Distinct([]registry.Resource{gadgets, alone}); !slices.Contains(got, alone) {
		t.Error("a resource whose stored one isn't served is its only one")
	}
}

// TestOtherGroupsContradict tests that a definition which can't have the objects of the stored one is refused.
func TestOtherGroupsContradict(t *testing.T) {
	for want, change := range map[string]func(d *registry.Definition[*shop.Widget]){
		`its Scope, Storage and StoragePrefix are "Cluster", "v1" and`: func(d *registry.Definition[*shop.Widget]) {
			d.Scope = api.Cluster
		},
		`StoragePrefix are "Namespaced", "v1" and "elsewhere" instead of`: func(d *registry.Definition[*shop.Widget]) {
			d.StoragePrefix = "elsewhere"
		},
		`field "spec.colour": there is no other field "spec.hue"`: func(d *registry.Definition[*shop.Widget]) {
			d.SelectableFields[0].Of = "spec.hue"
		},
		`group "stock.example.com": version v1 is declared twice`: func(d *registry.Definition[*shop.Widget]) {
			d.Versions = append(d.Versions, d.Versions[0])
		},
	} {
		resources := []registry.Resource{registry.New(shop.Definition()), stockWith(change)}
		_, err := resources[1].Open(t.Context(), registry.Config{Backend: memory.New(), Prefix: "/registry",
			Shared: registry.NewShared(resources)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
}

// TestClosedGroup tests that a group serves while the other one is closed.
func TestClosedGroup(t *testing.T) {
	resources := []registry.Resource{registry.New(shop.Definition()), stock()}
	config := registry.Config{Backend: memory.New(), Prefix: "/registry", Shared: registry.NewShared(resources)}
	for range 2 { // the store is opened again
		var handles [2]verb.Handle
		for i, r := range resources {
			var err error
			if handles[i], err = r.Open(t.Context(), config); err != nil {
				t.Fatal(err)
			}
		}
		if err := handles[0].Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := handles[1].List(t.Context(), "", verb.ListOptions{}, inVersion(ofStock)); err != nil {
			t.Error(err)
		}
		if err := handles[1].Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStoredInTheOtherGroup tests that objects which were stored in the other group are read, and that a migration
// stores them in the group that is stored now.
func TestStoredInTheOtherGroup(t *testing.T) {
	backend := memory.New()
	const key = "/registry/shop.example.com/widgets/ns/a"
	put(t, backend, key, []byte(`{"kind":"Article","apiVersion":"stock.example.com/v1",`+
		`"metadata":{"name":"a","namespace":"ns","uid":"u"},"spec":{"colour":"red"}}`))
	widgets, _ := openBoth(t, backend)
	widget, err := widgets.Get(t.Context(), "ns", "a", "", inVersion("v1"))
	if err != nil {
		t.Fatal(err)
	}
	mustContain(t, text(widget), `"kind":"Widget","apiVersion":"shop.example.com/v1"`, `"color":"red"`)
	resources := []registry.Resource{registry.New(shop.Definition()), stock()}
	done, err := registry.Migrate(t.Context(), resources[0], registry.Config{Backend: backend, Prefix: "/registry",
		Shared: registry.NewShared(resources)}, store.MigrateOptions{})
	if err != nil || done.Rewritten != 1 {
		t.Errorf("%d rewritten, %v", done.Rewritten, err)
	}
	value, _ := widgets.stored(key)
	mustContain(t, value, `"kind":"Widget","apiVersion":"shop.example.com/v1"`)
}

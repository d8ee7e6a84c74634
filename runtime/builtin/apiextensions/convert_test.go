package apiextensions_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// cable is stored as v1. v2 calls its size length, and v1's spec.count is v2's spec.pieces.
const cable = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cables.shop.example.com}
spec:
  group: shop.example.com
  names: {kind: Cable, plural: cables}
  scope: Namespaced
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {url: "%s", caBundle: %s}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: &schema {type: object, x-kubernetes-preserve-unknown-fields: true}}
    subresources: {scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: *schema}
    subresources: {scale: {specReplicasPath: .spec.pieces, statusReplicasPath: .status.pieces}}
    additionalPrinterColumns: [{name: Length, type: integer, jsonPath: .spec.length}]
`

// converter is a conversion webhook. It notes how many objects each call has.
type converter struct {
	mu    sync.Mutex
	calls []int
	fails bool
	// breaks are names of objects that it renames.
	breaks map[string]bool
}

func (h *converter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review map[string]any
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	objects, _ := at(review, "request", "objects").([]any)
	h.calls = append(h.calls, len(objects))
	to := fmt.Sprint(at(review, "request", "desiredAPIVersion"))
	names := strings.NewReplacer(`"size"`, `"length"`, `"count"`, `"pieces"`)
	if strings.HasSuffix(to, "/v1") {
		names = strings.NewReplacer(`"length"`, `"size"`, `"pieces"`, `"count"`)
	}
	converted := make([]any, len(objects))
	for i, object := range objects {
		data, _ := json.Marshal(object) // it was decoded
		var out map[string]any
		_ = json.Unmarshal([]byte(names.Replace(string(data))), &out)
		out["apiVersion"] = to
		if metadata := out["metadata"].(map[string]any); h.breaks[fmt.Sprint(metadata["name"])] {
			metadata["name"] = "other"
		}
		converted[i] = out
	}
	result := map[string]any{"status": "Success"}
	if h.fails {
		result, converted = map[string]any{"status": "Failure", "message": "no cable today"}, nil
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": review["apiVersion"], "kind": review["kind"], "response": map[string]any{
			"uid": at(review, "request", "uid"), "convertedObjects": converted, "result": result,
		},
	})
}

// set changes the webhook, and forgets the calls.
func (h *converter) set(fails bool, breaks ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fails, h.breaks, h.calls = fails, map[string]bool{}, nil
	for _, name := range breaks {
		h.breaks[name] = true
	}
}

func (h *converter) seen() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}

const (
	cables   = "/apis/shop.example.com/v1/namespaces/ns/cables"
	cablesV2 = "/apis/shop.example.com/v2/namespaces/ns/cables"
)

// startCables starts a server with n cables, which no client has seen in v2.
func startCables(t *testing.T, n int) (client, *converter) {
	t.Helper()
	c, hook := start(t), &converter{}
	webhook := httptest.NewTLSServer(hook)
	t.Cleanup(webhook.Close)
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: webhook.Certificate().Raw})
	c.establish(fmt.Sprintf(cable, webhook.URL, base64.StdEncoding.EncodeToString(bundle)), "cables.shop.example.com")
	for i := range n {
		c.want(http.StatusCreated, http.MethodPost, cables, fmt.Sprintf("{apiVersion: shop.example.com/v1, "+
			"kind: Cable, metadata: {name: c%04d}, spec: {size: %d, count: 3}}", i, i))
	}
	if calls := hook.seen(); len(calls) > 0 {
		t.Fatalf("writes in the storage version called the webhook: %v", calls)
	}
	return c, hook
}

func lengths(list map[string]any) (all []any) {
	items, _ := list["items"].([]any)
	for _, item := range items {
		all = append(all, at(item, "spec", "length"))
	}
	return all
}

// A list in another version calls the conversion webhook once, for the objects that it hasn't converted yet.
func TestListConvertsOnce(t *testing.T) {
	c, hook := startCables(t, 20)
	for _, step := range []struct {
		what, patch, path string
		items             int
		calls             string
	}{
		{"a page", "", cablesV2 + "?limit=5", 5, "[5]"},
		{"a list", "", cablesV2, 20, "[15]"},
		{"the list again", "", cablesV2, 20, "[]"},
		{"a list after a change", "spec: {size: 7}", cablesV2, 20, "[1]"},
		{"a selection", "", cablesV2 + "?fieldSelector=metadata.name%3Dc0002", 1, "[]"},
	} {
		if step.patch != "" {
			c.want(http.StatusOK, http.MethodPatch, cables+"/c0003", step.patch)
		}
		hook.set(false)
		list := c.want(http.StatusOK, http.MethodGet, step.path, "")
		if got := lengths(list); len(got) != step.items || got[0] == nil {
			t.Errorf("%s: %v", step.what, got)
		}
		if calls := fmt.Sprint(hook.seen()); calls != step.calls {
			t.Errorf("%s called the webhook for %s objects, want %s", step.what, calls, step.calls)
		}
	}
	table := c.accept(cablesV2, "application/json;as=Table;v=v1;g=meta.k8s.io")
	rows, _ := table["rows"].([]any)
	if len(rows) != 20 || fmt.Sprint(at(rows[4], "cells")) == "" || fmt.Sprint(hook.seen()) != "[20]" {
		t.Errorf("a table: %v, called for %v", rows, hook.seen())
	}
	if cells, _ := at(rows[4], "cells").([]any); len(cells) != 2 || cells[1] != 4.0 {
		t.Errorf("a row: %v", cells)
	}
}

// A watch in another version that begins with the state calls the conversion webhook once for a part of it.
func TestWatchConvertsOnce(t *testing.T) {
	c, hook := startCables(t, 20)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+cablesV2+"?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	for i := range 20 {
		var event map[string]any
		if err := decoder.Decode(&event); err != nil || at(event, "object", "spec", "length") != float64(i) {
			t.Fatalf("event %d: %v, %v", i, event, err)
		}
	}
	if calls := fmt.Sprint(hook.seen()); calls != "[20]" {
		t.Errorf("the webhook was called for %s objects", calls)
	}
}

// A list fails where the webhook fails, and names the object that the webhook broke.
func TestListFails(t *testing.T) {
	c, hook := startCables(t, 3)
	hook.set(true)
	failed := c.want(http.StatusInternalServerError, http.MethodGet, cablesV2, "")
	if message := fmt.Sprint(failed["message"]); !strings.Contains(message, "conversion webhook for "+
		"shop.example.com/v1, Kind=Cable failed: no cable today") || len(hook.seen()) != 1 {
		t.Errorf("%s, after the calls %v", message, hook.seen())
	}
	hook.set(false, "c0001")
	failed = c.want(http.StatusInternalServerError, http.MethodGet, cablesV2, "")
	causes, _ := at(failed, "details", "causes").([]any)
	if len(causes) != 1 || !strings.Contains(fmt.Sprint(at(causes[0], "message")), "must have the same name: "+
		"c0001 != other") {
		t.Errorf("%v", causes)
	}
	c.want(http.StatusOK, http.MethodGet, cablesV2+"/c0002", "")
}

// As in kube-apiserver, an object that can't be converted can't be deleted through the other version.
func TestDeletionConverts(t *testing.T) {
	c, hook := startCables(t, 6)
	hook.set(true)
	failed := c.want(http.StatusInternalServerError, http.MethodDelete, cablesV2+"/c0000", "")
	if message := fmt.Sprint(failed["message"]); !strings.Contains(message, "conversion webhook for "+
		"shop.example.com/v1, Kind=Cable failed: no cable today") || strings.Count(message, "nternal error") != 1 {
		t.Errorf("%s", message)
	}
	c.want(http.StatusInternalServerError, http.MethodDelete, cablesV2, "")
	if all := c.want(http.StatusOK, http.MethodGet, cables, "")["items"].([]any); len(all) != 6 {
		t.Errorf("left: %v", all)
	}
	c.want(http.StatusOK, http.MethodDelete, cables+"/c0000", "")
	hook.set(false)
	c.want(http.StatusOK, http.MethodDelete, cablesV2+"/c0001", "")
	if calls := fmt.Sprint(hook.seen()); calls != "[1]" {
		t.Errorf("a deletion called the webhook for %s objects", calls)
	}
	hook.set(false)
	gone := c.want(http.StatusOK, http.MethodDelete, cablesV2, "")
	if calls := fmt.Sprint(hook.seen()); calls != "[4]" || len(lengths(gone)) != 4 {
		t.Errorf("the deletion of all called the webhook for %s objects: %v", calls, gone)
	}
	// The objects of a definition go with it, in the storage version.
	c.want(http.StatusCreated, http.MethodPost, cables,
		"{apiVersion: shop.example.com/v1, kind: Cable, metadata: {name: last}}")
	hook.set(true)
	c.want(http.StatusOK, http.MethodDelete, definitions+"/cables.shop.example.com", "")
	c.await(http.StatusNotFound, definitions+"/cables.shop.example.com", nil)
}

// A scale is that of the object in the version of the request.
func TestScaleConverts(t *testing.T) {
	c, hook := startCables(t, 1)
	for path, field := range map[string]string{cables: "count", cablesV2: "pieces"} {
		scale := c.want(http.StatusOK, http.MethodGet, path+"/c0000/scale", "")
		if at(scale, "spec", "replicas") != 3.0 {
			t.Errorf("GET %s: %v", field, scale)
		}
	}
	scale := c.want(http.StatusOK, http.MethodPatch, cablesV2+"/c0000/scale", "spec: {replicas: 8}")
	if at(scale, "spec", "replicas") != 8.0 {
		t.Errorf("PATCH: %v", scale)
	}
	now := c.want(http.StatusOK, http.MethodGet, cables+"/c0000", "")
	if at(now, "spec", "count") != 8.0 || at(now, "spec", "pieces") != nil || at(now, "metadata", "generation") != 2.0 {
		t.Errorf("now: %v", now)
	}
	hook.set(true)
	c.want(http.StatusInternalServerError, http.MethodGet, cablesV2+"/c0000/scale", "")
	c.want(http.StatusInternalServerError, http.MethodPatch, cablesV2+"/c0000/scale", "spec: {replicas: 9}")
}

// accept reads a path in a media type.
func (c client) accept(path, mediaType string) (answer map[string]any) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.URL+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Accept", mediaType)
	response, err := c.Client.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		c.t.Fatal(err)
	}
	return answer
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/fleet/apis"
	fleetv1 "example.com/fleet/apis/fleet/v1"
	"example.com/fleet/internal/agent"
	"example.com/fleet/internal/harbour"
)

var ships = fleetv1.SchemeGroupVersion.WithResource("ships")

// bench is a server of the fleet's API with one ship and its running agent.
type bench struct {
	*testing.T
	config *rest.Config
	tides  *harbour.Tides
	agent  *agent.Agent
	client dynamic.ResourceInterface
	path   string // of the kubeconfig
}

const ship = `{"apiVersion":"fleet.example.com/v1","kind":"Ship","metadata":{"name":"aurora"},
	"spec":{"crew":12,"watch":{"matchLabels":{"ship":"aurora"}},"passengers":["ada"]}}`

func start(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, tides: new(harbour.Tides), agent: new(agent.Agent)}
	b.tides.Set("default", "hamburg", 320)
	b.tides.Set("default", "husum", 140)
	server := apitest.Start(t, apis.Groups(new(harbour.Moorings), harbour.Pilot{Tides: b.tides}, b.tides)...)
	b.path = filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(b.path, server.Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if b.config, err = clientcmd.RESTConfigFromKubeConfig(server.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(b.config)
	if err != nil {
		t.Fatal(err)
	}
	b.client = client.Resource(ships).Namespace("default")
	board := httptest.NewServer(b.agent)
	t.Cleanup(board.Close)
	b.post("/apis/fleet.example.com/v1/namespaces/default/ships", ship, http.StatusCreated)
	status, err := json.Marshal(map[string]any{"status": map[string]any{"crew": 9, "address": board.URL}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.client.Patch(t.Context(), "aurora", types.MergePatchType, status, metav1.PatchOptions{},
		"status"); err != nil {
		t.Fatal(err)
	}
	return b
}

const aurora = "/apis/fleet.example.com/v1/namespaces/default/ships/aurora"

// ask sends a request and returns the code and the body of the answer.
func (b *bench) ask(method, path, body string, header ...string) (int, string) {
	b.Helper()
	client, err := rest.HTTPClientFor(b.config)
	if err != nil {
		b.Fatal(err)
	}
	r, err := http.NewRequestWithContext(b.Context(), method, b.config.Host+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	var out bytes.Buffer
	if _, err := out.ReadFrom(response.Body); err != nil {
		b.Fatal(err)
	}
	return response.StatusCode, out.String()
}

// post posts a body and fails the test if the answer has another code.
func (b *bench) post(path, body string, want int) string {
	b.Helper()
	code, answer := b.ask(http.MethodPost, path, body, "Content-Type", "application/json")
	if code != want {
		b.Fatalf("POST %s: %d %s", path, code, answer)
	}
	return answer
}

// field returns a string field of the stored ship.
func (b *bench) spec() fleetv1.Ship {
	b.Helper()
	_, body := b.ask(http.MethodGet, aurora, "")
	var s fleetv1.Ship
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		b.Fatal(err)
	}
	return s
}

// kubectl runs kubectl and returns its output.
func (b *bench) kubectl(args string) (string, error) {
	b.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		b.Skip("there is no kubectl on this machine: ", err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), 3*time.Minute)
	defer cancel()
	home := b.TempDir()
	command := exec.CommandContext(ctx, path, strings.Fields(args)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+b.path, "HOME="+home, "KUBECACHEDIR="+home)
	out, err := command.CombinedOutput()
	return string(out), err
}

// says runs kubectl and fails the test if it fails or prints something else.
func (b *bench) says(want, args string) {
	b.Helper()
	out, err := b.kubectl(args)
	if err != nil || !strings.Contains(out, want) {
		b.Errorf("kubectl %s: %v, and it does not say %q:\n%s", args, err, want, out)
	}
}

func TestScale(t *testing.T) {
	b := start(t)
	code, body := b.ask(http.MethodGet, aurora+"/scale", "")
	for _, want := range []string{
		`"kind":"Scale"`, `"apiVersion":"autoscaling/v1"`, `"spec":{"replicas":12}`,
		`"status":{"replicas":9,"selector":"ship=aurora"}`,
	} {
		if code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%d, without %s: %s", code, want, body)
		}
	}
	b.says("ship.fleet.example.com/aurora scaled", "scale ship aurora --replicas=20")
	b.says("ship.fleet.example.com/aurora scaled", "scale ship aurora --current-replicas=20 --replicas=21")
	if s := b.spec(); *s.Spec.Crew != 21 || s.Status.Crew != 9 || s.Generation != 3 {
		t.Errorf("scaled: %+v of generation %d", s.Spec, s.Generation)
	}
	b.says("aurora   21        9", "get ship aurora --subresource=scale")
	for kind, patch := range map[string]string{
		"merge": `{"spec":{"replicas":22}}`,
		"json":  `[{"op":"replace","path":"/spec/replicas","value":22}]`,
	} {
		b.says("scale.autoscaling/aurora patched", "patch ship aurora --subresource=scale --type="+kind+" -p "+patch)
	}
	// The rules of the kind hold for its scale.
	if out, err := b.kubectl("scale ship aurora --replicas=501"); err == nil || !strings.Contains(out, "spec.crew") {
		t.Errorf("a crew of 501: %v %s", err, out)
	}
	code, body = b.ask(http.MethodPut, aurora+"/scale", `{"apiVersion":"autoscaling/v1","kind":"Scale",`+
		`"metadata":{"name":"aurora","namespace":"default","resourceVersion":"1"},"spec":{"replicas":3}}`,
		"Content-Type", "application/json")
	if code != http.StatusConflict {
		t.Errorf("a stale scale: %d %s", code, body)
	}
	code, body = b.ask(http.MethodPatch, aurora+"/scale?dryRun=All", `{"spec":{"replicas":3}}`,
		"Content-Type", "application/merge-patch+json")
	if code != http.StatusOK || !strings.Contains(body, `"spec":{"replicas":3}`) || *b.spec().Spec.Crew != 22 {
		t.Errorf("a dry run: %d %s", code, body)
	}
}

// A client that scales becomes the manager of the scaled field only.
func TestScaleOwners(t *testing.T) {
	b := start(t)
	apply := func(manager, path, body string) (int, string) {
		return b.ask(http.MethodPatch, path+"?fieldManager="+manager, body,
			"Content-Type", "application/apply-patch+yaml")
	}
	mine := `{"apiVersion":"fleet.example.com/v1","kind":"Ship","metadata":{"name":"beagle"},"spec":{"crew":3}}`
	if code, body := apply("captain", strings.Replace(aurora, "aurora", "beagle", 1),
		mine); code != http.StatusCreated {
		t.Fatal(code, body)
	}
	at := strings.Replace(aurora, "aurora", "beagle", 1)
	scale := `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"beagle"},"spec":{"replicas":5}}`
	if code, body := apply("scaler", at+"/scale", scale); code != http.StatusConflict ||
		!strings.Contains(body, `conflict with \"captain\"`) {
		t.Errorf("no conflict: %d %s", code, body)
	}
	if code, body := b.ask(http.MethodPatch, at+"/scale?fieldManager=scaler", `{"spec":{"replicas":5}}`,
		"Content-Type", "application/merge-patch+json"); code != http.StatusOK {
		t.Fatal(code, body)
	}
	if code, body := apply("captain", at, mine); code != http.StatusConflict ||
		!strings.Contains(body, `conflict with \"scaler\" with subresource \"scale\"`) {
		t.Errorf("the captain takes back what was scaled: %d %s", code, body)
	}
	_, body := b.ask(http.MethodGet, at, "")
	if !strings.Contains(body, `{"manager":"scaler","operation":"Update","apiVersion":"fleet.example.com/v1"`) ||
		!strings.Contains(body, `{"f:spec":{"f:crew":{}}},"subresource":"scale"}`) {
		t.Error(body)
	}
}

func TestClearance(t *testing.T) {
	b := start(t)
	patch := func(path, body string) (int, string) {
		return b.ask(http.MethodPatch, path, body, "Content-Type", "application/merge-patch+json")
	}
	if _, body := patch(aurora, `{"clearance":{"granted":true,"by":"me"}}`); strings.Contains(body, `"granted":true`) {
		t.Errorf("cleared through the object: %s", body)
	}
	if code, body := patch(aurora+"/clearance",
		`{"clearance":{"granted":true}}`); code != http.StatusUnprocessableEntity ||
		!strings.Contains(body, "clearance.by") {
		t.Errorf("cleared by nobody: %d %s", code, body)
	}
	if code, body := patch(aurora+"/clearance",
		`{"clearance":{"granted":true,"by":"me"},"spec":{"crew":1}}`); code != http.StatusOK ||
		!strings.Contains(body, `"granted":true`) || strings.Contains(body, `"crew":1,`) {
		t.Errorf("cleared: %d %s", code, body)
	}
}

func TestActions(t *testing.T) {
	b := start(t)
	docking := `{"apiVersion":"fleet.example.com/v1","kind":"Docking","harbour":"hamburg"}`
	b.post(aurora+"/docking", docking, http.StatusForbidden)
	if code, body := b.ask(http.MethodPatch, aurora+"/clearance", `{"clearance":{"granted":true,"by":"me"}}`,
		"Content-Type", "application/merge-patch+json"); code != http.StatusOK {
		t.Fatal(code, body)
	}
	b.post(aurora+"/docking?dryRun=All", docking, http.StatusCreated)
	if s := b.spec(); s.Spec.Harbour != "" {
		t.Errorf("a dry run moved the ship to %s", s.Spec.Harbour)
	}
	answer := b.post(aurora+"/docking", docking, http.StatusCreated)
	if !strings.Contains(answer, `"kind":"Status"`) || !strings.Contains(answer, `"status":"Success"`) {
		t.Error(answer)
	}
	if s := b.spec(); s.Spec.Harbour != "hamburg" || s.Generation != 2 /* created, docked */ {
		t.Errorf("in %q, of generation %d", s.Spec.Harbour, s.Generation)
	}
	b.post(aurora+"/docking", docking, http.StatusConflict)
	_, answer = b.ask(http.MethodPost, aurora+"/docking?dryRun=All", strings.Replace(docking, "hamburg", "husum", 1),
		"Content-Type", "application/json", "Accept", "application/cbor")
	var status metav1.Status
	if err := direct.Unmarshal([]byte(answer), &status); err != nil || status.Kind != "Status" ||
		status.Code != http.StatusCreated {
		t.Errorf("in CBOR: %v %+v", err, status)
	}
	b.post(aurora+"/docking", `{"apiVersion":"fleet.example.com/v1","kind":"Docking"}`, http.StatusUnprocessableEntity)
	b.post(aurora+"/docking", `{"apiVersion":"fleet.example.com/v1","kind":"Docking","metadata":{"name":"beagle"},`+
		`"harbour":"husum"}`, http.StatusBadRequest)
	b.post(aurora+"/docking", `{"apiVersion":"v1","kind":"Binding"}`, http.StatusBadRequest)
	b.post(strings.Replace(aurora, "aurora", "beagle", 1)+"/docking", docking, http.StatusNotFound)

	eviction := `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"aurora",` +
		`"annotations":{"fleet.example.com/passenger":"ada"}}}`
	b.post(aurora+"/eviction", eviction, http.StatusCreated)
	b.post(aurora+"/eviction", eviction, http.StatusBadRequest)
	if s := b.spec(); len(s.Spec.Passengers) != 0 {
		t.Errorf("on board: %v", s.Spec.Passengers)
	}
	answer = b.post(aurora+"/ticket", `{"spec":{"passenger":"ada"}}`, http.StatusCreated)
	if !strings.Contains(answer, `"kind":"TicketRequest"`) || !strings.Contains(answer, `"class":"deck"`) ||
		!strings.Contains(answer, `"number":"`) {
		t.Error(answer)
	}
	if code, _ := b.ask(http.MethodGet, aurora+"/docking", ""); code != http.StatusMethodNotAllowed {
		t.Errorf("GET of an action: %d", code)
	}
}

func TestManifest(t *testing.T) {
	b := start(t)
	b.post(aurora+"/ticket", `{"spec":{"passenger":"grace"}}`, http.StatusCreated)
	for query, want := range map[string]string{
		"":          `"count":2,"names":["ada","grace"]}`,
		"?prefix=g": `"count":1,"names":["grace"]}`,
	} {
		code, body := b.ask(http.MethodGet, aurora+"/manifest"+query, "")
		if code != http.StatusOK ||
			!strings.HasPrefix(body, `{"kind":"Manifest","apiVersion":"fleet.example.com/v1",`) ||
			!strings.Contains(body, want) {
			t.Errorf("%s: %d %s", query, code, body)
		}
	}
	b.says("aurora   2", "get ship aurora --subresource=manifest")
	for path, want := range map[string]string{"/manifest": "Manifest", "/scale": "Scale"} {
		code, body := b.ask(http.MethodGet, aurora+path, "", "Accept", "application/cbor")
		var object map[string]any
		if err := direct.Unmarshal([]byte(body), &object); err != nil || code != http.StatusOK ||
			object["kind"] != want {
			t.Errorf("%s in CBOR: %d %v %q", path, code, err, body)
		}
	}
	if code, body := b.ask(http.MethodPost, aurora+"/manifest", "{}"); code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d %s", code, body)
	}
}

func TestLog(t *testing.T) {
	b := start(t)
	b.agent.Logf("one")
	b.agent.Logf("two")
	b.says("two", "get --raw "+aurora+"/log?tailLines=1")
	if code, body := b.ask(http.MethodGet, aurora+"/log?tailLines=x", ""); code != http.StatusBadRequest ||
		!strings.Contains(body, "tailLines") {
		t.Errorf("a bad query: %d %s", code, body)
	}
	client, err := rest.HTTPClientFor(b.config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.config.Host+aurora+
		"/log?follow=true&tailLines=1&timeout=1s", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get("Content-Type"); got != "text/plain" {
		t.Errorf("content type %q", got)
	}
	line := func() string {
		buffer := make([]byte, 100)
		n, err := response.Body.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		return string(buffer[:n])
	}
	if got := line(); got != "two\n" {
		t.Errorf("read %q", got)
	}
	b.agent.Logf("three")
	if got := line(); got != "three\n" {
		t.Errorf("read %q", got)
	}
}

func TestProxy(t *testing.T) {
	b := start(t)
	b.says("GET /proxy/charts/north?x=1", "get --raw "+aurora+"/proxy/charts/north?x=1")
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if code, body := b.ask(method, aurora+"/proxy/a%2Fb//c?timeout=5s", "body"); code != http.StatusOK ||
			body != method+` /proxy/a%2Fb//c?timeout=5s authorization="" body`+"\n" {
			t.Errorf("%s: %d %q", method, code, body)
		}
	}
	if code, body := b.ask(http.MethodGet, aurora+"/proxy", ""); code != http.StatusOK ||
		!strings.HasPrefix(body, "GET /proxy/ ") {
		t.Errorf("%d %q", code, body)
	}
	second := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "second ", r.URL.Path)
	}))
	t.Cleanup(second.Close)
	port := second.URL[strings.LastIndex(second.URL, ":"):]
	for _, name := range []string{"/http:aurora", "/aurora"} {
		path := strings.Replace(aurora, "/aurora", name+port, 1) + "/proxy/x"
		if code, body := b.ask(http.MethodGet, path, ""); code != http.StatusOK || body != "second /proxy/x" {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	for _, path := range []string{
		aurora + "/proxy/../../beagle/log", aurora + "/proxy/%2e%2e/log",
		strings.Replace(aurora, "/ships/", "/ships%2f", 1) + "/proxy/x",
	} {
		if code, body := b.ask(http.MethodGet, path, ""); code != http.StatusNotFound {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	if code, _ := b.ask(http.MethodPut, aurora+"/exec", ""); code != http.StatusMethodNotAllowed {
		t.Errorf("PUT of exec: %d", code)
	}
}

package main

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	fleetv1 "example.com/fleet/apis/fleet/v1"
)

// manifest writes moorings to a file.
func (b *bench) manifest(names ...string) string {
	b.Helper()
	var text strings.Builder
	for _, name := range names {
		text.WriteString("---\napiVersion: fleet.example.com/v1\nkind: Mooring\nmetadata: {name: " + name +
			"}\nspec: {ship: aurora}\n")
	}
	path := filepath.Join(b.TempDir(), "moorings.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// TestMooringsByKubectl drives a kind that a provider keeps in memory with kubectl, as a stored kind.
func TestMooringsByKubectl(t *testing.T) {
	b := start(t)
	events := b.follow("get moorings -w --output-watch-events --no-headers")
	expect := func(want string) {
		t.Helper()
		if got := events(); got != want {
			t.Fatalf("kubectl get -w says %q, not %q", got, want)
		}
	}
	b.says("mooring.fleet.example.com/pier-1 created", "create -f "+b.manifest("pier-1"))
	expect("ADDED pier-1 aurora 2") // from here on it misses nothing
	b.says("mooring.fleet.example.com/pier-2 created", "apply -f "+b.manifest("pier-2"))
	b.says("pier-1   aurora   2", "get moorings --no-headers")
	b.says("pier-2", "get moorings -o name --field-selector spec.ship=aurora")
	b.says("patched", `patch mooring pier-1 --type=merge -p {"spec":{"lines":4}}`)
	b.says("patched", `patch mooring pier-1 --type=json -p [{"op":"replace","path":"/spec/lines","value":5}]`)
	b.says("labeled", "label mooring pier-1 side=port")
	b.says("pier-1", "get moorings -l side=port -o name")
	t.Setenv("KUBE_EDITOR", "sed -i /lines:/s/5/6/")
	b.says("edited", "edit mooring pier-1")
	b.says("6", "get mooring pier-1 -o jsonpath={.spec.lines}")
	if out, err := b.kubectl(`patch mooring pier-1 --type=merge -p {"spec":{"ship":"beagle"}}`); err == nil ||
		!strings.Contains(out, "cast off") {
		t.Errorf("another ship: %v %s", err, out)
	}
	if out, err := b.kubectl("create -f " + b.manifest("Pier_3")); err == nil ||
		!strings.Contains(out, "metadata.name") {
		t.Errorf("a bad name: %v %s", err, out)
	}
	if out, err := b.kubectl("create -f " + b.manifest("pier-1")); err == nil ||
		!strings.Contains(out, "already exists") {
		t.Errorf("a taken name: %v %s", err, out)
	}
	b.says("(server dry run)", "delete mooring pier-1 --dry-run=server")
	b.says(`"pier-1" deleted`, "delete mooring pier-1")
	b.says(`"pier-2" deleted`, "delete moorings --all")
	b.says("No resources found", "get moorings")
	for _, want := range []string{
		"ADDED pier-2 aurora 2", "MODIFIED pier-1 aurora 4", "MODIFIED pier-1 aurora 5", "MODIFIED pier-1 aurora 5",
		"MODIFIED pier-1 aurora 6", "DELETED pier-1 aurora 6", "DELETED pier-2 aurora 2",
	} {
		expect(want)
	}
	for range 2 {
		b.says("mooring.fleet.example.com/pier-3 serverside-applied", "apply --server-side -f "+b.manifest("pier-3"))
	}
	b.says("patched", `patch mooring pier-3 --type=merge --field-manager=harbour -p {"spec":{"ship":"aurora",`+
		`"lines":4}}`)
	b.says("kubectl harbour", "get mooring pier-3 -o jsonpath={.metadata.managedFields[*].manager}")
}

// follow starts a kubectl that doesn't end and returns a function that waits for its next line.
func (b *bench) follow(args string) (next func() string) {
	b.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		b.Skip("there is no kubectl on this machine: ", err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), 3*time.Minute)
	home := b.TempDir()
	command := exec.CommandContext(ctx, path, strings.Fields(args)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+b.path, "HOME="+home, "KUBECACHEDIR="+home)
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		cancel()
		b.Fatal(err)
	}
	b.Cleanup(func() { cancel(); _ = command.Wait() })
	lines := bufio.NewScanner(out)
	return func() string {
		lines.Scan()
		return strings.Join(strings.Fields(lines.Text()), " ")
	}
}

// TestMooringsByClientGo checks an informer, optimistic concurrency, and deletecollection by a selector.
func TestMooringsByClientGo(t *testing.T) {
	b := start(t)
	client, err := dynamic.NewForConfig(b.config)
	if err != nil {
		t.Fatal(err)
	}
	resource := fleetv1.SchemeGroupVersion.WithResource("moorings")
	moorings := client.Resource(resource).Namespace("default")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	defer func() { cancel(); factory.Shutdown() }()
	seen := make(chan string, 100)
	informer := factory.ForResource(resource).Informer()
	say := func(verb string, obj any) {
		object := obj.(*unstructured.Unstructured)
		lines, _, _ := unstructured.NestedInt64(object.Object, "spec", "lines")
		seen <- verb + " " + object.GetLabels()["side"] + " " + string(rune('0'+lines))
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { say("add", obj) },
		UpdateFunc: func(_, obj any) { say("update", obj) },
		DeleteFunc: func(obj any) { say("delete", obj) },
	}); err != nil {
		t.Fatal(err)
	}
	mooring := func(side string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "fleet.example.com/v1", "kind": "Mooring", "spec": map[string]any{"ship": "aurora"},
			"metadata": map[string]any{"generateName": "pier-", "labels": map[string]any{"side": side}},
		}}
	}
	port, err := moorings.Create(ctx, mooring("port"), metav1.CreateOptions{})
	if err != nil || port.GetUID() == "" || !strings.HasPrefix(port.GetName(), "pier-") ||
		port.GetCreationTimestamp().Year() < 2000 {
		t.Fatalf("%v %v", err, port)
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("the informer has not synced")
	}
	if _, err = moorings.Create(ctx, mooring("starboard"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(port.Object, int64(3), "spec", "lines"); err != nil {
		t.Fatal(err)
	}
	if _, err := moorings.Update(ctx, port, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Error(err)
	}
	if _, err := moorings.Update(ctx, port, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := moorings.Update(ctx, port, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of what has changed: %v", err)
	}
	applied := mooring("port")
	applied.SetName(port.GetName())
	if err := unstructured.SetNestedField(applied.Object, int64(9), "spec", "lines"); err != nil {
		t.Fatal(err)
	}
	if _, err := moorings.Apply(ctx, port.GetName(), applied,
		metav1.ApplyOptions{FieldManager: "x"}); !apierrors.IsConflict(err) ||
		!strings.Contains(err.Error(), ".spec.lines") {
		t.Errorf("an apply of what another has set: %v", err)
	}
	uid := types.UID("another")
	if err := moorings.Delete(ctx, port.GetName(),
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}); !apierrors.IsConflict(err) {
		t.Errorf("a deletion of another one: %v", err)
	}
	if err := moorings.DeleteCollection(ctx, metav1.DeleteOptions{},
		metav1.ListOptions{LabelSelector: "side=starboard"}); err != nil {
		t.Fatal(err)
	}
	if err := moorings.Delete(ctx, port.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"add port 2", "add starboard 2", "update port 3", "delete starboard 2", "delete port 3",
	} {
		select {
		case got := <-seen:
			if got != want {
				t.Fatalf("the informer says %q, not %q", got, want)
			}
		case <-ctx.Done():
			t.Fatalf("the informer never says %q", want)
		}
	}
	code, body := b.ask(http.MethodGet, strings.Replace(tides, "tides", "moorings", 1)+
		"?watch=1&resourceVersion=1000", "")
	if code != http.StatusGone && !strings.Contains(body, `"code":410`) {
		t.Errorf("a watch from a revision that nobody told: %d %s", code, body)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// kubelet is what runs pods in these tests: it has one line of output for each, and one program, which says its arguments
// and what it hears.
func kubelet(t *testing.T) (host, port string) {
	mux := http.NewServeMux()
	mux.HandleFunc("/log/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s of %s says hello\n", r.URL.Query().Get("container"), strings.TrimPrefix(r.URL.Path, "/log/"))
	})
	mux.HandleFunc("/exec/", func(w http.ResponseWriter, r *http.Request) {
		if err := run(w, r); err != nil {
			t.Errorf("exec: %v", err)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if host, port, err = net.SplitHostPort(at.Host); err != nil {
		t.Fatal(err)
	}
	return host, port
}

// run speaks the WebSocket protocol of remote commands.
func run(w http.ResponseWriter, r *http.Request) error {
	channels := []wsstream.ChannelType{wsstream.ReadChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.WriteChannel}
	protocol := wsstream.ChannelProtocolConfig{Binary: true, Channels: channels}
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{"v4.channel.k8s.io": protocol, "v5.channel.k8s.io": protocol})
	_, streams, err := conn.Open(w, r)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := fmt.Fprintln(streams[1], strings.Join(r.URL.Query()["command"], " ")); err != nil {
		return err
	}
	if r.URL.Query().Get("stdin") == "true" {
		heard := make([]byte, 64)
		n, err := streams[0].Read(heard)
		if err != nil && err != io.EOF {
			return err
		}
		if _, err := streams[1].Write(heard[:n]); err != nil {
			return err
		}
	}
	_, err = io.WriteString(streams[3], `{"status":"Success"}`)
	return err
}

// runningPod is a pod on node n1, that the agent at host and port runs.
func (k *kubectl) runningPod(name, host, port, annotation string) {
	k.t.Helper()
	pod := map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"app": "web"}, "annotations": map[string]any{
			"workloads.example.com/agent-port": port, "workloads.example.com/keep": annotation,
		}},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "main:1"}}},
	}
	data, err := json.Marshal(pod)
	if err != nil {
		k.t.Fatal(err)
	}
	k.given(string(data), "create -f -", "pod/"+name+" created")
	k.given(`{"apiVersion":"v1","kind":"Binding","metadata":{"name":"`+name+`"},"target":{"kind":"Node","name":"n1"}}`,
		"create --raw /api/v1/namespaces/default/pods/"+name+"/binding -f -", `"status":"Success"`)
	k.says(fmt.Sprintf(`patch pod %s --subresource=status -p {"status":{"phase":"Running","hostIP":%q}}`, name, host), "patched")
}

// What kubectl does with a pod beside reading and writing it.
func TestPodIsRun(t *testing.T) {
	k := start(t)
	host, port := kubelet(t)
	k.runningPod("one", host, port, "")
	k.says("get pod one -o jsonpath={.spec.nodeName}/{.status.conditions[0].type}", "n1/PodScheduled")
	k.says("logs one -c main", "main of default/one says hello")
	k.refuses("logs one -c side", "container side is not valid for pod one")
	k.says("exec one -- echo aye", "echo aye")
	k.given("heave\n", "exec -i one -- cat", "cat heave")
	k.refuses("exec one -c side -- true", "container side is not valid for pod one")
	out, ok := k.run("create --raw /api/v1/namespaces/default/pods/one/binding -f -", `{"target":{"name":"n2"}}`)
	k.check("binding again", out, ok, false, []string{`it is assigned to node "n1" already`})
	k.says("api-resources --api-group= --namespaced -o name", "pods")
	k.says("get --raw /api/v1", `{"name":"pods/eviction","singularName":"","namespaced":true,"group":"policy","version":"v1","kind":"Eviction","verbs":["create"]}`)
}

// A node is drained: its pods are evicted, but for one that refuses until it may go.
func TestDrain(t *testing.T) {
	k := start(t)
	host, port := kubelet(t)
	k.given(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}`, "create -f -", "node/n1 created")
	k.runningPod("one", host, port, "")
	k.runningPod("two", host, port, "true")
	k.says("create pdb web --selector=app=web --min-available=1", "poddisruptionbudget.policy/web created")
	k.says("get pdb", "NAME MIN AVAILABLE", "web 1")
	k.refuses("drain n1 --force --timeout=1s", "evicting pod default/one", "evicting pod default/two", "Cannot evict pod as it would violate", "global timeout reached")
	k.says("get pods -o name", "pod/two")
	k.says("get node n1 -o jsonpath={.spec.unschedulable}", "true")
	eviction := `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"two"},"deleteOptions":{"preconditions":{"uid":"another"}}}`
	k.says("annotate pod two workloads.example.com/keep-", "annotated")
	out, ok := k.run("create --raw /api/v1/namespaces/default/pods/two/eviction -f -", eviction)
	k.check("eviction of another", out, ok, false, []string{"the UID in the precondition (another) does not match"})
	dry := `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"two"},"deleteOptions":{"dryRun":["All"]}}`
	k.given(dry, "create --raw /api/v1/namespaces/default/pods/two/eviction -f -", `"status":"Success"`)
	k.says("get pods -o name", "pod/two")
	k.says("drain n1 --force", "pod/two evicted", "node/n1 drained")
	k.says("get pods", "No resources found")
}

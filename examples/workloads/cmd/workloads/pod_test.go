package main

import (
	"encoding/base64"
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

// kubelet runs pods in these tests. It has one line of output for each pod, and one program, which prints its arguments
// and its input.
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
	channels := []wsstream.ChannelType{wsstream.ReadChannel, wsstream.WriteChannel, wsstream.WriteChannel,
		wsstream.WriteChannel}
	protocol := wsstream.ChannelProtocolConfig{Binary: true, Channels: channels}
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{"v4.channel.k8s.io": protocol,
		"v5.channel.k8s.io": protocol})
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

// runningPod returns a ready pod on node n1, which the agent at host and port runs.
func (k *kubectl) runningPod(name, host, port string) {
	k.t.Helper()
	pod := map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"app": "web"},
			"annotations": map[string]any{"workloads.example.com/agent-port": port}},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "main:1"}}},
	}
	data, err := json.Marshal(pod)
	if err != nil {
		k.t.Fatal(err)
	}
	k.given(string(data), "create -f -", "pod/"+name+" created")
	k.given(`{"apiVersion":"v1","kind":"Binding","metadata":{"name":"`+name+`"},"target":{"kind":"Node","name":"n1"}}`,
		"create --raw /api/v1/namespaces/default/pods/"+name+"/binding -f -", `"status":"Success"`)
	k.says(fmt.Sprintf(`patch pod %s --subresource=status -p {"status":{"phase":"Running","hostIP":%q,`+
		`"conditions":[{"type":"PodScheduled","status":"True"},{"type":"Ready","status":"True"}]}}`, name,
		host), "patched")
}

// kubectl's commands for pods, beside reads and writes.
func TestPodIsRun(t *testing.T) {
	k := start(t)
	host, port := kubelet(t)
	k.runningPod("one", host, port)
	k.says("get pod one -o jsonpath={.spec.nodeName}/{.status.conditions[0].type}", "n1/PodScheduled")
	k.says("logs one -c main", "main of default/one says hello")
	k.refuses("logs one -c side", "container side is not valid for pod one")
	k.says("exec one -- echo aye", "echo aye")
	k.given("heave\n", "exec -i one -- cat", "cat heave")
	k.refuses("exec one -c side -- true", "container side is not valid for pod one")
	out, ok := k.run("create --raw /api/v1/namespaces/default/pods/one/binding -f -", `{"target":{"name":"n2"}}`)
	k.check("binding again", out, ok, false, []string{`it is assigned to node "n1" already`})
	k.says("debug one --image=busybox --profile=general", "debug container name")
	k.says("api-resources --api-group= --namespaced -o name", "pods")
	k.says("get --raw /api/v1", `{"name":"pods/eviction","singularName":"","namespaced":true,"group":"policy",`+
		`"version":"v1","kind":"Eviction","verbs":["create"]}`,
		`{"name":"pods/exec","singularName":"","namespaced":true,"kind":"PodExecOptions","verbs":["create","get"]}`)
}

// kubectl drain evicts the pods of a node as far as their budget allows.
func TestDrain(t *testing.T) {
	k := start(t)
	host, port := kubelet(t)
	k.given(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}`, "create -f -", "node/n1 created")
	k.runningPod("one", host, port)
	k.runningPod("two", host, port)
	k.says("create pdb web --selector=app=web --min-available=1", "poddisruptionbudget.policy/web created")
	k.says("get pdb", "NAME MIN AVAILABLE", "web 1")
	evict := func(name, options string) (string, bool) {
		eviction := `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"` + name + `"},"deleteOptions":{` +
			options + `}}`
		return k.run("create --raw /api/v1/namespaces/default/pods/"+name+"/eviction -f -", eviction)
	}
	out, ok := evict("one", "")
	k.check("eviction before anybody counted", out, ok, false,
		[]string{"Cannot evict pod as it would violate the pod's disruption budget"})
	// The controller of budgets would set these numbers.
	k.says(`patch pdb web --subresource=status -p {"status":{"observedGeneration":1,"expectedPods":2,`+
		`"currentHealthy":2,"desiredHealthy":1,"disruptionsAllowed":1}}`, "patched")
	out, ok = evict("two", `"preconditions":{"uid":"another"}`)
	k.check("eviction of another", out, ok, false, []string{"the UID in the precondition (another) does not match"})
	for _, options := range []string{`"dryRun":["All"]`, ""} {
		k.says("patch pdb web --subresource=status --type=merge -p {\"status\":{\"disruptionsAllowed\":1,"+
			"\"disruptedPods\":null}}", "patched")
		out, ok = evict("one", options)
		k.check("eviction", out, ok, true, []string{`"status":"Success"`})
		k.says("get pdb web -o jsonpath={.status.disruptionsAllowed}",
			map[bool]string{true: "1", false: "0"}[options != ""])
	}
	k.says("get pods -o name", "pod/two")
	k.refuses("drain n1 --force --timeout=1s", "evicting pod default/two",
		"Cannot evict pod as it would violate the pod's disruption budget.", "global timeout reached")
	k.says("get node n1 -o jsonpath={.spec.unschedulable}", "true")
	k.says("patch pdb web --subresource=status -p {\"status\":{\"disruptionsAllowed\":1}}", "patched")
	k.says("drain n1 --force", "pod/two evicted", "node/n1 drained")
	k.says("get pods", "No resources found")
	k.says("get pdb web -o jsonpath={.status.disruptedPods}", `"two"`)
}

// kubectl create token asks a service account for a token.
func TestToken(t *testing.T) {
	k := start(t)
	k.refuses("create token builder", `serviceaccounts "builder" not found`)
	k.says("create serviceaccount builder", "serviceaccount/builder created")
	out, ok := k.run("create token builder --duration=30m --audience=shop", "")
	parts := strings.Split(strings.TrimSpace(out), ".")
	if !ok || len(parts) != 3 {
		t.Fatal(out)
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || !strings.Contains(string(claims), `"aud":["shop"]`) ||
		!strings.Contains(string(claims), `"sub":"system:serviceaccount:default:builder"`) {
		t.Errorf("%s, %v", claims, err)
	}
	k.refuses("create token builder --duration=1m", "may not specify a duration less than 10 minutes")
}

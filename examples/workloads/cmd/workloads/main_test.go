package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"

	"example.com/workloads/apis"
)

// kubectl is the real command, with a server of this test and a home of its own.
type kubectl struct {
	t    *testing.T
	path string
	env  []string
}

func start(t *testing.T) *kubectl {
	t.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("there is no kubectl here; make kubectl builds one: ", err)
	}
	home := t.TempDir()
	config := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(config, apitest.Start(t, apis.Groups()...).Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return &kubectl{t: t, path: path, env: append(os.Environ(), "KUBECONFIG="+config, "HOME="+home,
		"KUBECACHEDIR="+home)}
}

// run runs a command line without quotes, with the text on its standard input.
func (k *kubectl) run(line, stdin string) (out string, ok bool) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), 3*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, k.path, strings.Fields(line)...)
	command.Env, command.Stdin = k.env, strings.NewReader(stdin)
	var both bytes.Buffer
	command.Stdout, command.Stderr = &both, &both
	err := command.Run()
	if ctx.Err() != nil {
		k.t.Fatalf("kubectl %s hangs\n%s", line, &both)
	}
	return both.String(), err == nil
}

// says runs a command and fails the test if it fails or lacks one of the texts. Blanks between words don't count.
func (k *kubectl) says(line string, texts ...string) {
	k.t.Helper()
	out, ok := k.run(line, "")
	k.check(line, out, ok, true, texts)
}

// refuses runs a command and fails the test if it succeeds or lacks one of the texts.
func (k *kubectl) refuses(line string, texts ...string) {
	k.t.Helper()
	out, ok := k.run(line, "")
	k.check(line, out, ok, false, texts)
}

// given is says with text on the standard input.
func (k *kubectl) given(stdin, line string, texts ...string) {
	k.t.Helper()
	out, ok := k.run(line, stdin)
	k.check(line, out, ok, true, texts)
}

func (k *kubectl) check(line, out string, ok, want bool, texts []string) {
	k.t.Helper()
	if ok != want {
		k.t.Fatalf("kubectl %s: succeeded is %t\n%s", line, ok, out)
	}
	blank := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for _, text := range texts {
		if !strings.Contains(blank(out), blank(text)) {
			k.t.Errorf("kubectl %s does not say %q:\n%s", line, text, out)
		}
	}
}

// The server describes its API as a cluster does.
func TestDiscovery(t *testing.T) {
	k := start(t)
	k.says("api-resources", "configmaps cm v1 true ConfigMap", "deployments deploy apps/v1 true Deployment",
		"leases coordination.k8s.io/v1 true Lease")
	k.says("api-versions", "apps/v1", "coordination.k8s.io/v1", "v1")
	k.says("get --raw /api", `"versions":["v1"]`)
	k.says("explain deployment.spec.template --recursive", "GROUP: apps", "KIND: Deployment",
		"containers <[]Container> -required-", "imagePullPolicy <string>")
	k.says("explain configmap.binaryData", "VERSION: v1", "BinaryData contains the binary data")
	k.says("explain lease.spec.holderIdentity", "holderIdentity contains the identity of the holder")
}

// Config maps and secrets, as scripts use them.
func TestConfiguration(t *testing.T) {
	k := start(t)
	k.says("create configmap greeting --from-literal=text=hello --from-literal=to=all", "configmap/greeting created")
	k.says("get cm", "NAME DATA AGE", "greeting 2")
	k.says("get configmap greeting -o jsonpath={.data.text}", "hello")
	k.says("create secret generic key --from-literal=password=open", "secret/key created")
	k.says("get secrets", "NAME TYPE DATA AGE", "key Opaque 1")
	k.says("get secrets --field-selector type=Opaque -o name", "secret/key")
	k.given("apiVersion: v1\nkind: Secret\nmetadata: {name: text}\nstringData: {a: b}\nimmutable: true\n",
		"create -f -", "secret/text created")
	k.says("get secret text -o jsonpath={.data.a}{.stringData}", "Yg==")
	k.refuses(`patch secret text -p {"stringData":{"a":"c"}}`, "field is immutable when `immutable` is set")
	k.refuses("create configmap Bad --from-literal=a=b", "Invalid value", "RFC 1123")
	k.says("label cm greeting tone=kind", "labeled")
	k.says("get cm -l tone=kind -o name", "configmap/greeting")
	k.says("delete cm,secret --all", `configmap "greeting" deleted`, `secret "key" deleted`)
}

// A deployment from its manifest to its end.
func TestDeployment(t *testing.T) {
	k := start(t)
	sample := filepath.Join("..", "..", "config", "samples", "deployment.yaml")
	k.says("create deployment api --image=registry.k8s.io/pause:3.10", "deployment.apps/api created")
	k.says("apply --server-side --field-manager=team -f "+sample, "deployment.apps/web serverside-applied")
	k.says("get deploy", "NAME READY UP-TO-DATE AVAILABLE AGE", "api 0/1 0 0", "web 0/3 0 0")
	k.says("get deploy web -o yaml --show-managed-fields", "manager: team", "terminationGracePeriodSeconds: 30",
		"maxSurge: 25%", "protocol: TCP",
		"revisionHistoryLimit: 10", "generation: 1", "restartPolicy: Always")
	k.says("get all", "deployment.apps/web")
	k.says("rollout status deployment/web --watch=false", "Waiting for deployment spec update to be observed")
	k.says("set image deployment/web web=nginx:1.28", "image updated")
	k.says("get deploy web -o jsonpath={.metadata.generation}/{.spec.template.spec.containers[0].image}",
		"2/nginx:1.28")
	k.refuses("apply --server-side --field-manager=other -f "+sample, "conflict with \"kubectl-set\"")
	k.says(`patch deployment web --subresource=status -p {"status":{"replicas":3,"readyReplicas":2,`+
		`"updatedReplicas":3,"availableReplicas":2,"observedGeneration":2}}`, "patched")
	k.says("get deployment web", "web 2/3 3 2")
	k.says("rollout status deployment/web --watch=false", "2 of 3 updated replicas are available")
	k.refuses(`patch deployment web --type=merge -p {"spec":{"selector":{"matchLabels":{"app":"else"}}}}`,
		"field is immutable", "`selector` does not match template `labels`")
	k.refuses(`patch deployment web --type=merge -p {"spec":{"selector":null}}`, "spec.selector: Required value")
	k.says("delete deployment --all", `deployment.apps "web" deleted`)
}

// Strategic merge works by the merge keys of the types: a container is changed by its name.
func TestStrategicMerge(t *testing.T) {
	k := start(t)
	k.says("create deployment web --image=nginx --port=80", "created")
	k.says(`patch deployment web -p {"spec":{"template":{"spec":{"containers":[{"name":"side",`+
		`"image":"busybox"}]}}}}`, "patched")
	k.says("get deploy web -o jsonpath={.spec.template.spec.containers[*].name}", "side nginx")
	k.says("set env deployment/web MODE=test", "env updated")
	k.says("get deploy web -o jsonpath={.spec.template.spec.containers[1].env[0].value}", "test")
}

// A new pod has the defaults of a template of pods, and the phase Pending.
func TestPod(t *testing.T) {
	k := start(t)
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one"},"spec":{"containers":[{"name":"main",` +
		`"image":"main:1","ports":[{"containerPort":80}]}]},"status":{"phase":"Running"}}`
	k.given(pod, "create -f -", "pod/one created")
	k.says("get po", "NAME READY STATUS RESTARTS AGE", "one 0/1 Pending 0")
	k.says("get pods --field-selector status.phase=Pending,spec.nodeName= -o name", "pod/one")
	k.says("get pod one -o jsonpath={.spec.restartPolicy}/{.spec.containers[0].ports[0].protocol}", "Always/TCP")
	k.says("get pod one -o jsonpath={.spec.schedulerName}{.spec.securityContext}", "default-scheduler{}")
	k.says(`patch pod one --subresource=status -p {"status":{"phase":"Running"}}`, "patched")
	k.says("get po one --no-headers", "one 0/1 Running 0")
}

// Field selectors find events by the object that they are about.
func TestEvents(t *testing.T) {
	k := start(t)
	for _, name := range []string{"one", "two"} {
		k.given(`{"apiVersion":"v1","kind":"Event","metadata":{"name":"`+name+
			`.1","namespace":"default"},"reason":"Started","type":"Normal","count":1,
			"involvedObject":{"apiVersion":"v1","kind":"Pod","namespace":"default","name":"`+name+`"},`+
			`"lastTimestamp":"2026-01-01T00:00:00Z"}`,
			"create -f -", "event/"+name+".1 created")
	}
	k.says("events", "Pod/one", "Pod/two")
	out, ok := k.run("events --for pod/one", "")
	k.check("events --for pod/one", out, ok, true, []string{"Started Pod/one"})
	if strings.Contains(out, "Pod/two") {
		t.Errorf("events of another: %s", out)
	}
	k.says("get events --field-selector involvedObject.kind=Pod,involvedObject.name!=one,type=Normal -o name",
		"event/two.1")
}

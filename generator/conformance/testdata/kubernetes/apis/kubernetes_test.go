package apis

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/registry"
)

// echo answers a review with what was posted.
type echo[T any] struct{}

func (echo[T]) Create(_ context.Context, obj T, _ bool) (T, error) { return obj, nil }

// components is the state of one component.
type components struct{}

var scheduler = &corev1.ComponentStatus{ObjectMeta: metav1.ObjectMeta{Name: "scheduler"},
	Conditions: []corev1.ComponentCondition{{Type: corev1.ComponentHealthy, Status: corev1.ConditionTrue, Message: "ok"}}}

func (components) Get(context.Context, string, string) (*corev1.ComponentStatus, error) {
	return scheduler.DeepCopy(), nil
}

func (components) List(context.Context, string, api.Selection) (*registry.List[*corev1.ComponentStatus], error) {
	return &registry.List[*corev1.ComponentStatus]{Items: []*corev1.ComponentStatus{scheduler.DeepCopy()}}, nil
}

// kubectl is the real command, with a server of all kinds.
type kubectl struct {
	*testing.T
	env []string
}

func start(t *testing.T) kubectl {
	t.Helper()
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl on this machine: ", err)
	}
	home := t.TempDir()
	server := apitest.Start(t, Groups(echo[*corev1.Binding]{}, components{}, echo[*authenticationv1.SelfSubjectReview]{},
		echo[*authenticationv1.TokenReview]{}, echo[*authorizationv1.LocalSubjectAccessReview]{},
		echo[*authorizationv1.SelfSubjectAccessReview]{}, echo[*authorizationv1.SelfSubjectRulesReview]{},
		echo[*authorizationv1.SubjectAccessReview]{})...)
	config := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(config, server.Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return kubectl{t, append(os.Environ(), "KUBECONFIG="+config, "HOME="+home, "KUBECACHEDIR="+home)}
}

// run runs a command line without quotes, with the text on its standard input.
func (k kubectl) run(line, stdin string) string {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "kubectl", strings.Fields(line)...)
	command.Env, command.Stdin = k.env, strings.NewReader(stdin)
	out, err := command.CombinedOutput()
	if err != nil {
		k.Errorf("kubectl %s: %v\n%s", line, err, out)
	}
	return string(out)
}

// names are the names of objects of kinds that have a rule of their own.
var names = map[string]string{"ipaddresses": "10.0.0.1", "clusterroles": "system:a", "roles": "system:a"}

// members are those that an object must have beside its metadata.
var members = map[string]string{
	"validatingadmissionpolicybindings": `"spec":{"policyName":"a","validationActions":["Deny"]}`,
	"daemonsets":                        workload,
	"deployments":                       workload,
	"replicasets":                       workload,
	"statefulsets":                      workload,
	"replicationcontrollers":            `"spec":{"selector":{"a":"b"},` + template + `}`,
	"pods":                              `"spec":{"containers":[{"name":"a","image":"a"}]}`,
	"horizontalpodautoscalers":          `"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"a"}}`,
	"cronjobs":                          `"spec":{"schedule":"* * * * *"}`,
	"endpointslices":                    `"addressType":"IPv4","endpoints":[]`,
	"prioritylevelconfigurations":       `"spec":{"type":"Exempt"}`,
	"ipaddresses":                       `"spec":{"parentRef":{"resource":"services","name":"a"}}`,
	"runtimeclasses":                    `"handler":"a"`,
	"clusterrolebindings":               role,
	"rolebindings":                      role,
	"storageclasses":                    `"provisioner":"a"`,
	"volumeattachments":                 `"spec":{"attacher":"a","nodeName":"a","source":{"persistentVolumeName":"a"}}`,
}

const (
	template = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"a"}]}}`
	workload = `"spec":{"selector":{"matchLabels":{"a":"b"}},` + template + `}`
	role     = `"roleRef":{"kind":"Role","name":"a"}`
)

// TestEveryKind creates an object of each stored kind, and lists each kind.
func TestEveryKind(t *testing.T) {
	k := start(t)
	listed := 0
	for row := range strings.Lines(k.run("api-resources --no-headers -o wide", "")) {
		fields := strings.Fields(row)
		at := slices.IndexFunc(fields, func(f string) bool { return f == "true" || f == "false" })
		resource, version, kind, verbs := fields[0], fields[at-1], fields[at+1], fields[at+2]
		full := resource
		if group, _, named := strings.Cut(version, "/"); named {
			full += "." + group
		}
		object := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"}}`, version, kind)
		if name := names[resource]; name != "" {
			object = strings.Replace(object, `"a"`, `"`+name+`"`, 1)
		}
		if more := members[resource]; more != "" {
			object = strings.TrimSuffix(object, "}") + "," + more + "}"
		}
		if strings.Contains(verbs, "create") && strings.Contains(verbs, "get") {
			k.run("create -f -", object)
		}
		if strings.Contains(verbs, "list") {
			if out := k.run("get "+full, ""); strings.Count(out, "\n") < 2 {
				k.Errorf("%s: %s", full, out)
			}
			listed++
		}
	}
	if listed < 58 {
		t.Errorf("%d kinds are listed", listed)
	}
	for _, c := range []struct {
		line  string
		wants []string
	}{
		{"get deploy,rc,pods,svc,job,ev,hpa.v1.autoscaling", []string{"0/1", "Running", "cpu: <unknown>/80%"}},
		{"scale rc a --replicas=3", []string{"scaled"}},
		{"get rc a --subresource=scale -o yaml", []string{"selector: a=b", "replicas: 3"}},
		{"get jobs --field-selector status.successful=0", []string{"Running"}},
		{"get pods -o yaml", []string{"restartPolicy: Always", "imagePullPolicy: Always"}},
		{"get cronjobs -o yaml", []string{"concurrencyPolicy: Allow", "schedulerName: default-scheduler"}},
	} {
		out := k.run(c.line, "")
		for _, want := range c.wants {
			if !strings.Contains(out, want) {
				k.Errorf("kubectl %s: no %q in\n%s", c.line, want, out)
			}
		}
	}
}

package rbac_test

import (
	"context"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/builtin/authentication"
	"apigen.dev/runtime/builtin/authorization"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/memory"
)

// TestKubectlAuth drives a server with the kubectl of the machine, if there is one: the administrator gives rights
// with kubectl's own commands, and each user asks for theirs.
func TestKubectlAuth(t *testing.T) {
	path, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("this machine has no kubectl")
	}
	backend := memory.New()
	defer backend.Close()
	r := start(t, backend, slices.Concat((&core.Feature{}).Groups(), (&authentication.Feature{}).Groups(),
		(&authorization.Feature{}).Groups())...)
	dir := t.TempDir()
	kubectl := func(user, want string, args ...string) {
		t.Helper()
		access := server.Kubeconfig{Name: user, Server: r.url, CA: pem.EncodeToMemory(r.authority), Token: user}
		config, err := access.YAML()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, user)
		if err := os.WriteFile(file, config, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, path, append([]string{"--kubeconfig", file, "-n", "ns"}, args...)...)
		command.Env = append(os.Environ(), "HOME="+dir)
		out, _ := command.CombinedOutput() // can-i ends with 1 for no
		if got := strings.TrimSpace(string(out)); !regexp.MustCompile("^(?s:" + want + ")$").MatchString(got) {
			t.Errorf("kubectl %s as %s: %s\nwant %s", strings.Join(args, " "), user, got, want)
		}
	}
	auth := func(user, want string, args ...string) {
		t.Helper()
		kubectl(user, want, append([]string{"auth"}, args...)...)
	}
	auth("admin", "yes", "can-i", "*", "*", "--all-namespaces")
	auth("ann", `ATTRIBUTE +VALUE\nUsername +ann\nGroups +\[system:authenticated\]`, "whoami")
	auth("admin", `ATTRIBUTE +VALUE\nUsername +bob\nGroups +\[team system:authenticated\]`, "whoami", "--as=bob",
		"--as-group=team")
	auth("ann", "no", "can-i", "list", "widgets")
	kubectl("admin", "role.rbac.authorization.k8s.io/reader created",
		"create", "role", "reader", "--verb=get,list", "--resource=widgets.shop.example.com")
	kubectl("admin", "rolebinding.rbac.authorization.k8s.io/readers created",
		"create", "rolebinding", "readers", "--role=reader", "--user=ann", "--serviceaccount=ns:robot")
	kubectl("admin", "serviceaccount/robot created", "create", "serviceaccount", "robot")
	auth("ann", "yes", "can-i", "list", "widgets")
	auth("ann", "no", "can-i", "list", "widgets", "--all-namespaces")
	auth("ann", "no", "can-i", "delete", "widgets/a")
	auth("admin", "yes", "can-i", "get", "widgets", "--as=system:serviceaccount:ns:robot")
	kubectl("admin", "clusterrole.rbac.authorization.k8s.io/scaler created",
		"create", "clusterrole", "scaler", "--verb=update", "--resource=widgets.shop.example.com/status")
	kubectl("admin", "clusterrolebinding.rbac.authorization.k8s.io/scalers created",
		"create", "clusterrolebinding", "scalers", "--clusterrole=scaler", "--group=system:authenticated")
	auth("ann", "yes", "can-i", "update", "widgets", "--subresource=status", "--all-namespaces")
	auth("ann", "yes", "can-i", "get", "/apis")
	auth("ann", "no", "can-i", "get", "/metrics")
	auth("ann", `Resources +Non-Resource URLs +Resource Names +Verbs\n.*`+
		`widgets.shop.example.com +\[\] +\[\] +\[get list\].*`+
		` +\[/apis\] +\[\] +\[get\].*`+
		`widgets.shop.example.com/status +\[\] +\[\] +\[update\].*`, "can-i", "--list")
	kubectl("ann", `Error from server \(Forbidden\): roles.rbac.authorization.k8s.io is forbidden: User "ann" cannot `+
		`create resource "roles" in API group "rbac.authorization.k8s.io" in the namespace "ns"`,
		"create", "role", "more", "--verb=*", "--resource=widgets.shop.example.com")

	manifest := filepath.Join(dir, "roles.yaml")
	if err := os.WriteFile(manifest, []byte(`apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: ns}
rules:
- {apiGroups: [shop.example.com], resources: [widgets], verbs: [get, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers, namespace: ns}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	auth("admin", `role.rbac.authorization.k8s.io/reader reconciled\n.*missing rules added:.*Verbs:\[delete\].*`+
		`rolebinding.rbac.authorization.k8s.io/readers reconciled\n.*missing subjects added:.*bob.*`,
		"reconcile", "-f", manifest)
	auth("bob", "yes", "can-i", "delete", "widgets/a")
	auth("ann", "yes", "can-i", "list", "widgets")
}

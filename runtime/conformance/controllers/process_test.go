package controllers

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// process is a program that runs as one pod of a Deployment would.
type process struct {
	deployment
	binary string
	// extra are arguments beside those of the Deployment, such as ports, with variables, too.
	extra []string
	// variables are what the Deployment's container has besides, as NAME=value.
	variables []string
}

// run runs a process until the test ends. It has the rights of the Deployment's service account, and no others.
func (c *controlplane) run(t *testing.T, p process) {
	t.Helper()
	if len(p.Spec.Template.Spec.Containers) == 0 {
		t.Fatalf("%s: there is no such Deployment", p.binary)
	}
	container, dir := p.Spec.Template.Spec.Containers[0], t.TempDir()
	variables := p.environment(container)
	variables["KUBECONFIG"], variables["HOME"], variables["TMPDIR"] = c.serviceAccount(t, p.deployment), dir, dir
	var args []string
	for _, arg := range append(container.Args, p.extra...) {
		args = append(args, expand(arg, variables))
	}
	command := exec.CommandContext(t.Context(), p.binary, args...)
	command.Dir, command.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range variables {
		command.Env = append(command.Env, name+"="+value)
	}
	launch(t, command)
}

// environment returns the variables of a container.
func (p process) environment(container container) map[string]string {
	all := map[string]string{}
	for _, env := range container.Env {
		switch env.ValueFrom.FieldRef.FieldPath {
		case "metadata.namespace":
			all[env.Name] = p.Metadata.Namespace
		case "metadata.name":
			all[env.Name] = p.Metadata.Name + "-0"
		case "":
			all[env.Name] = env.Value
		}
	}
	for _, variable := range p.variables {
		name, value, _ := strings.Cut(variable, "=")
		all[name] = value
	}
	return all
}

// variable is $(NAME), which the kubelet fills in, or ${NAME:=default}, which the project's installer fills in.
var variable = regexp.MustCompile(`\$\((\w+)\)|\$\{(\w+):=([^}]*)\}`)

func expand(arg string, variables map[string]string) string {
	return variable.ReplaceAllStringFunc(arg, func(reference string) string {
		parts := variable.FindStringSubmatch(reference)
		return cmp.Or(variables[parts[1]+parts[2]], parts[3])
	})
}

func TestExpand(t *testing.T) {
	variables := map[string]string{"NAMESPACE": "system", "LEVEL": "3"}
	for arg, want := range map[string]string{
		"--in=$(NAMESPACE)":             "--in=system",
		"--at=${ADDRESS:=:8443},${B:=}": "--at=:8443,",
		"--v=${LEVEL:=0}":               "--v=3",
		"plain$":                        "plain$",
	} {
		if got := expand(arg, variables); got != want {
			t.Errorf("%s: %s, want %s", arg, got, want)
		}
	}
}

// serviceAccount writes a kubeconfig of the service account of a Deployment, and returns its path.
func (c *controlplane) serviceAccount(t *testing.T, d deployment) string {
	t.Helper()
	name := cmp.Or(d.Spec.Template.Spec.ServiceAccountName, "default")
	var token string
	eventually(t, func() (err error) { // the account default comes soon after its namespace
		token, err = c.try("", "create", "token", name, "--namespace="+d.Metadata.Namespace)
		return err
	})
	text, err := os.ReadFile(c.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	own := &controlplane{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	if err := os.WriteFile(own.kubeconfig, text, 0o600); err != nil {
		t.Fatal(err)
	}
	own.kubectl(t, "", "config", "set-credentials", "account", "--token="+strings.TrimSpace(token))
	own.kubectl(t, "", "config", "set-context", "--current", "--user=account")
	return own.kubeconfig
}

// awaitSecret waits for a certificate in a Secret, and writes it where a program reads it, as a kubelet does.
func (c *controlplane) awaitSecret(t *testing.T, dir, namespace, name string) {
	t.Helper()
	for _, key := range []string{"tls.crt", "tls.key"} {
		template := `-o=go-template={{index .data "` + key + `" | base64decode}}`
		var text string
		eventually(t, func() (err error) {
			text, err = c.try("", "get", "secret", name, "--namespace="+namespace, template)
			if err == nil && !strings.Contains(text, "-----BEGIN") {
				err = errors.New("it has no " + key)
			}
			return err
		})
		if err := os.WriteFile(filepath.Join(dir, key), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

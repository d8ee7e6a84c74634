package controllers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var k9s = program{name: "k9s", module: "github.com/derailed/k9s", version: "v0.50.16"}

const gadgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.shop.example.com
spec:
  group: shop.example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets, shortNames: [gd]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer, maximum: 5000}}}
`

const twoGadgets = `{"apiVersion": "v1", "kind": "List", "items": [
{"apiVersion": "shop.example.com/v1", "kind": "Gadget", "metadata": {"name": "first"}, "spec": {"size": 4111}},
{"apiVersion": "shop.example.com/v1", "kind": "Gadget", "metadata": {"name": "second"}, "spec": {"size": 4222}}]}`

// terminal is a program in a terminal of tmux.
type terminal struct{ socket string }

// open runs a command in a terminal until the test ends.
func open(t *testing.T, env []string, command string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux on this machine: ", err)
	}
	dir, err := os.MkdirTemp("", "tmux") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	x := &terminal{socket: filepath.Join(dir, "s")}
	start := exec.Command("tmux", "-f", "/dev/null", "-S", x.socket, "new-session", "-d", "-x", "180", "-y", "45",
		command)
	start.Env = append(append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8"), env...)
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen:\n%s", x.screen())
		}
		_ = exec.Command("tmux", "-S", x.socket, "kill-server").Run()
	})
	return x
}

func (x *terminal) screen() string {
	out, err := exec.Command("tmux", "-S", x.socket, "capture-pane", "-p").CombinedOutput()
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// keys presses keys, in tmux's names, and waits until the screen shows all words, and none that begins with "-".
func (x *terminal) keys(t *testing.T, keys []string, words ...string) {
	t.Helper()
	if len(keys) > 0 {
		run(t, ".", "tmux", append([]string{"-S", x.socket, "send-keys"}, keys...)...)
	}
	eventually(t, func() error {
		screen := x.screen()
		for _, word := range words {
			text, gone := strings.CutPrefix(word, "-")
			if strings.Contains(screen, text) == gone {
				return fmt.Errorf("whether the screen shows %q is %t", text, gone)
			}
		}
		return nil
	})
}

func (x *terminal) command(t *testing.T, command string, words ...string) {
	t.Helper()
	x.keys(t, []string{":", command, "Enter"}, words...)
}

// TestK9s: k9s lists, shows, edits and deletes objects of ready-made kinds and of custom resources.
func TestK9s(t *testing.T) {
	long(t)
	binary, c := k9s.build(t), start(t)
	c.kubectl(t, gadgets, "apply", "-f", "-")
	c.kubectl(t, "", "wait", "--for=condition=Established", "crd/gadgets.shop.example.com")
	c.kubectl(t, twoGadgets, "apply", "-f", "-")
	c.kubectl(t, "", "create", "configmap", "settings", "--from-literal=color=blue")
	home := t.TempDir()
	x := open(t, []string{
		"HOME=" + home, "K9S_CONFIG_DIR=" + home, "KUBECONFIG=" + c.kubeconfig,
		"EDITOR=sed -i 's/size: 4111/size: 4333/; s/blue/red/'",
	}, binary+" --namespace default --command gadgets --refresh 1 --headless")
	x.keys(t, nil, "gadgets(default)[2]", "SIZE", "first", "4111", "second", "4222")
	x.keys(t, []string{"y"}, "kind: Gadget", "size: 4111")
	x.keys(t, []string{"Escape"}, "gadgets(default)[2]")
	x.keys(t, []string{"d"}, "Kind:", "Gadget", "Size:")
	x.keys(t, []string{"Escape"}, "gadgets(default)[2]")
	x.keys(t, []string{"e"}, "4333", "-4111")
	if size := c.kubectl(t, "", "get", "gadget", "first", "-o=jsonpath={.spec.size}"); size != "4333" {
		t.Errorf("the edited object has the size %s", size)
	}
	c.kubectl(t, "", "patch", "gadget", "second", "--type=merge", `-p={"spec":{"size":4444}}`)
	x.keys(t, nil, "4444", "-4222")
	x.keys(t, []string{"C-d"}, "Delete")
	x.keys(t, []string{"Tab", "Enter"}, "gadgets(default)[1]", "-first")
	if names := c.kubectl(t, "", "get", "gadgets", "-o=name"); names != "gadget.shop.example.com/second\n" {
		t.Errorf("after the deletion of first there are %s", names)
	}
	x.command(t, "configmaps", "configmaps(default)", "settings")
	x.keys(t, []string{"/", "settings", "Enter"}, "</settings>")
	x.keys(t, []string{"e"})
	eventually(t, func() error {
		color, err := c.try("", "get", "configmap", "settings", "-o=jsonpath={.data.color}")
		if err == nil && color != "red" {
			err = fmt.Errorf("its color is %s", color)
		}
		return err
	})
	for _, resource := range c.resources(t) {
		x.command(t, resource, " "+resource[strings.LastIndex(resource, "/")+1:]+"(")
	}
}

// resources returns what can be listed, as group/version/resource, but for the events of the core group, which k9s
// shows as those of their own group.
func (c *controlplane) resources(t *testing.T) (all []string) {
	t.Helper()
	for line := range strings.Lines(c.kubectl(t, "", "api-resources", "--verbs=list", "--no-headers")) {
		fields := strings.Fields(line) // the name, perhaps short ones, the version, whether it has namespaces, the kind
		if resource := fields[len(fields)-3] + "/" + fields[0]; resource != "v1/events" {
			all = append(all, resource)
		}
	}
	if len(all) < 20 {
		t.Fatalf("only %d resources: %v", len(all), all)
	}
	return all
}

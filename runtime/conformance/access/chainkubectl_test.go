package access

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubectl runs commands against a chain.
type kubectl struct {
	path, home string
}

// newKubectl skips the test if there is no kubectl, neither on the path nor where `make kubectl` puts it.
func newKubectl(t *testing.T, c *chained) *kubectl {
	t.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		if path, err = filepath.Abs("../../../bin/kubectl"); err == nil {
			_, err = os.Stat(path)
		}
	}
	if err != nil {
		t.Skip("there is no kubectl on this machine: ", err)
	}
	k := &kubectl{path, t.TempDir()}
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: c.url, InsecureSkipTLSVerify: true}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"admin": {Token: adminToken}},
		Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "admin", Namespace: "shop"}},
		CurrentContext: "c",
	}
	if err := clientcmd.WriteToFile(config, k.file("kubeconfig")); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *kubectl) file(name string) string { return filepath.Join(k.home, name) }

// gaps are between columns, and ages end lines.
var (
	gaps = regexp.MustCompile(` {2,}`)
	ages = regexp.MustCompile(`(?m) (?:\d+m)?\d+s$`)
)

// run runs a command that must succeed, and returns what it prints, with one blank between columns and the age as AGE.
func (k *kubectl) run(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	out, err := k.try(t, stdin, args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (k *kubectl) try(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, k.path, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+k.file("kubeconfig"), "HOME="+k.home, "KUBECACHEDIR="+k.home)
	command.Stdin = strings.NewReader(stdin)
	out, err := command.CombinedOutput()
	return ages.ReplaceAllString(gaps.ReplaceAllString(string(out), " "), " AGE"), err
}

// has fails the test where a text lacks one of the lines.
func has(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, line := range want {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

const three = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"k"},"data":{"text":"a"}}
{"apiVersion":"chain.example.com/v1","kind":"Thing","metadata":{"name":"k"},"spec":{"text":"a"}}
{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":"k"},"spec":{"flunderReference":"a"}}
`

// kubectl sees one API.
func testKubectl(t *testing.T, c *chained) {
	k := newKubectl(t, c)
	has(t, k.run(t, "", "wait", "--for=condition=Available", "--timeout=60s", "apiservice/"+ourService,
		"apiservice/v1.chain.example.com"),
		"apiservice.apiregistration.k8s.io/v1beta1.wardle.example.com condition met",
		"apiservice.apiregistration.k8s.io/v1.chain.example.com condition met")
	has(t, k.run(t, "", "get", "apiservices"), "NAME SERVICE AVAILABLE AGE", "v1. Local True AGE",
		"v1.rbac.authorization.k8s.io Local True AGE",
		"v1.chain.example.com Local True AGE", "v1beta1.wardle.example.com shop/guest True AGE")
	has(t, k.run(t, "", "api-resources"), "NAME SHORTNAMES APIVERSION NAMESPACED KIND",
		"configmaps cm v1 true ConfigMap", "things chain.example.com/v1 true Thing",
		"flunders wardle.example.com/v1beta1 true Flunder", "fischers wardle.example.com/v1alpha1 false Fischer",
		"apiservices apiregistration.k8s.io/v1 false APIService")
	k.objects(t)
	k.explain(t)
	k.failing(t, c)
}

// objects applies, lists and deletes objects of three groups with one command each.
func (k *kubectl) objects(t *testing.T) {
	t.Helper()
	for _, verb := range []string{"serverside-applied", "serverside-applied"} {
		has(t, k.run(t, three, "apply", "--server-side", "-f", "-"), "configmap/k "+verb,
			"thing.chain.example.com/k "+verb, "flunder.wardle.example.com/k "+verb)
	}
	has(t, k.run(t, "", "get", "flunders,things,configmaps", "-A"), "NAMESPACE NAME AGE",
		"shop flunder.wardle.example.com/k AGE", "NAMESPACE NAME TEXT", "shop thing.chain.example.com/k a",
		"NAMESPACE NAME DATA AGE", "shop configmap/k 1 AGE")
	has(t, k.run(t, three, "delete", "-f", "-"), `configmap "k" deleted from shop namespace`,
		`thing.chain.example.com "k" deleted from shop namespace`,
		`flunder.wardle.example.com "k" deleted from shop namespace`)
	has(t, k.run(t, "", "get", "flunders,things"), "No resources found in shop namespace.")
}

// explain reads the OpenAPI v3 documents.
func (k *kubectl) explain(t *testing.T) {
	t.Helper()
	has(t, k.run(t, "", "explain", "flunder.spec"), "GROUP: wardle.example.com", "KIND: Flunder", "VERSION: v1beta1",
		"FIELD: spec <FlunderSpec>", " flunderReference\t<string>")
	has(t, k.run(t, "", "explain", "thing.spec"), "GROUP: chain.example.com", "KIND: Thing", "VERSION: v1",
		"FIELD: spec <Object>", " text\t<string>", " text is a text.")
	has(t, k.run(t, "", "explain", "apiservice.spec.service"), "FIELD: service <ServiceReference>")
}

// failing makes an APIService whose version the guest doesn't have.
func (k *kubectl) failing(t *testing.T, c *chained) {
	t.Helper()
	c.register(t, "v1", "absent.example.com", 10)
	c.await(t, "v1.absent.example.com", "False", "FailedDiscoveryCheck")
	has(t, k.run(t, "", "get", "apiservice", "v1.absent.example.com"),
		"v1.absent.example.com shop/guest False (FailedDiscoveryCheck) AGE")
	has(t, k.run(t, "", "delete", "apiservice", "v1.absent.example.com"),
		`apiservice.apiregistration.k8s.io "v1.absent.example.com" deleted`)
}

// kubectlAway: while the guest doesn't answer, kubectl shows all other groups.
func kubectlAway(t *testing.T, c *chained) {
	t.Run("kubectl", func(t *testing.T) {
		k := newKubectl(t, c)
		has(t, k.run(t, "", "get", "apiservices"), "v1.chain.example.com Local True AGE",
			"v1beta1.wardle.example.com shop/guest False (FailedDiscoveryCheck) AGE")
		out, _ := k.try(t, "", "api-resources") // some versions of kubectl fail for what is missing
		has(t, out, "things chain.example.com/v1 true Thing", "configmaps cm v1 true ConfigMap")
		k.run(t, "", "get", "things,configmaps", "-A")
		if out, err := k.try(t, "", "get", "flunders"); err == nil {
			t.Errorf("get flunders: %s", out)
		}
		k.run(t, "", "wait", "--for=condition=Available=False", "--timeout=60s", "apiservice/"+ourService)
	})
}

package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/conformance/apis"
	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/embedded"
	library "example.com/library/apis"
	workloads "example.com/workloads/apis"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// serveVariable makes the test binary a server: the command that a user's main calls, with the arguments as they are.
const serveVariable = "CONFORMANCE_SERVE"

// groups are what all servers serve: upstream's types, and those of an example that uses more of what there is.
func groups() []registry.Group { return slices.Concat(apis.Groups(), library.Groups()) }

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) == clusterName {
		server.Main(server.Program{Name: clusterName, Groups: workloads.Groups(), Embedded: embedded.Etcd{}})
		return
	}
	if os.Getenv(serveVariable) != "" {
		server.Main(server.Program{Name: "wardle", Groups: groups(), Embedded: embedded.Etcd{}})
		return
	}
	if kubeconfig := os.Getenv(manageVariable); kubeconfig != "" {
		manage(kubeconfig, os.Getenv(identityVariable))
		return
	}
	if file := os.Getenv(credentialVariable); file != "" {
		if err := tellCredential(file); err != nil {
			panic(err)
		}
		return
	}
	// client-go reads this once. Its dynamic client then asks for CBOR first.
	if err := os.Setenv("KUBE_FEATURE_ClientsAllowCBOR", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// target is a server under test.
type target struct {
	// config is how client-go reaches it, kubeconfig how kubectl does.
	config     *rest.Config
	kubeconfig string
	// process is nil for a server inside the test, etcd where storage is not an etcd process.
	process *process
	etcd    *etcdtest.Process
}

// targets are the servers that every client must get along with.
var targets = []struct {
	name  string
	start func(t *testing.T) *target
}{
	{"memory", startMemory},
	{"embedded", startEmbedded},
	{"etcd", startEtcd},
}

// onEach runs a test on each of the servers.
func onEach(t *testing.T, test func(t *testing.T, server *target)) {
	for _, each := range targets {
		t.Run(each.name, func(t *testing.T) {
			t.Parallel()
			test(t, each.start(t))
		})
	}
}

func startMemory(t *testing.T) *target {
	t.Helper()
	running := apitest.Start(t, groups()...)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, running.Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return newTarget(t, path)
}

func startEmbedded(t *testing.T) *target {
	t.Helper()
	p := startProcess(t)
	s := newTarget(t, p.kubeconfig())
	s.process = p
	return s
}

func startEtcd(t *testing.T) *target {
	t.Helper()
	store := etcdtest.Start(t)
	p := startProcess(t, "--etcd-servers="+store.Endpoint())
	s := newTarget(t, p.kubeconfig())
	s.process, s.etcd = p, store
	return s
}

func newTarget(t *testing.T, kubeconfig string) *target {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(fmt.Errorf("the server's kubeconfig: %w", err))
	}
	config.QPS = -1 // no limit
	return &target{config: config, kubeconfig: kubeconfig}
}

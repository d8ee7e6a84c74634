package exchange

import (
	"testing"

	"apigen.dev/runtime/apitest"
	workloads "example.com/workloads/apis"
	"k8s.io/client-go/tools/clientcmd"
)

// workloadsKubectl is the folder of the scripts about the kinds of examples/workloads.
const workloadsKubectl = "workloads/kubectl"

// TestColumns: kubectl get prints of the kinds of examples/workloads what it prints of kube-apiserver's.
func TestColumns(t *testing.T) {
	t.Parallel()
	server := apitest.Start(t, workloads.Groups()...)
	config, err := clientcmd.Load(server.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	replayKubectl(t, worldOf(server), newKubectl(t, *config), workloadsKubectl)
}

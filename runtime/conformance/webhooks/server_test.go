package webhooks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/conformance/webhooks/apis"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/embedded"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// shop is a server of apigen with cert-manager's kinds, and with all that builtin.Standalone has.
type shop struct {
	config     *rest.Config
	kubeconfig string
	// service is the host and port behind every service that a webhook names.
	service atomic.Pointer[string]
}

func start(t *testing.T) *shop {
	t.Helper()
	s := &shop{}
	command := server.Command(server.Program{
		Name: "shop", Groups: apis.Groups(), Features: builtin.Standalone(), Embedded: embedded.Etcd{},
		Services: func(_ context.Context, namespace, name string, port int32) (string, error) {
			if address := s.service.Load(); address != nil {
				return *address, nil
			}
			return "", fmt.Errorf("nobody serves %s/%s:%d", namespace, name, port)
		},
	})
	data := t.TempDir()
	command.SetArgs([]string{"--data-dir=" + data, "--secure-port=0", "--authorization-mode=RBAC"})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- command.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended: %v", err)
		}
	})
	s.kubeconfig = filepath.Join(data, "admin.kubeconfig")
	eventually(t, func(ctx context.Context) (err error) {
		select {
		case err := <-ended:
			t.Fatalf("the server doesn't start: %v", err)
		default:
		}
		if _, err = os.Stat(s.kubeconfig); err != nil {
			return err
		}
		if s.config, err = clientcmd.BuildConfigFromFlags("", s.kubeconfig); err != nil {
			return err
		}
		s.config.QPS = -1
		s.config.WarningHandler = rest.NoWarnings{}
		client, err := kubernetes.NewForConfig(s.config)
		if err != nil {
			return err
		}
		return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
	return s
}

// eventually calls try until it succeeds.
func eventually(t *testing.T, try func(ctx context.Context) error) {
	t.Helper()
	var last error
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			last = try(ctx)
			return last == nil, nil
		}); err != nil {
		t.Fatalf("%v; the last error is: %v", err, last)
	}
}

package webhooks

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// rules complete and check config maps, as the webhooks of a kubebuilder project do.
type rules struct{}

// Default implements admission.Defaulter.
func (rules) Default(ctx context.Context, obj *corev1.ConfigMap) error {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return err
	}
	if obj.Annotations == nil {
		obj.Annotations = map[string]string{}
	}
	if obj.Annotations["by"] == "" {
		obj.Annotations["by"] = request.UserInfo.Username
	}
	return nil
}

// ValidateCreate implements admission.Validator.
func (rules) ValidateCreate(_ context.Context, obj *corev1.ConfigMap) (admission.Warnings, error) {
	if obj.Data["size"] == "large" {
		return admission.Warnings{"large is expensive"}, nil
	}
	if obj.Data["size"] == "" {
		return nil, errors.New("it has no size")
	}
	return nil, nil
}

// ValidateUpdate implements admission.Validator.
func (rules) ValidateUpdate(_ context.Context, old, obj *corev1.ConfigMap) (admission.Warnings, error) {
	if old.Data["size"] != obj.Data["size"] {
		return nil, fmt.Errorf("the size %s is for ever", old.Data["size"])
	}
	return nil, nil
}

// ValidateDelete implements admission.Validator.
func (rules) ValidateDelete(_ context.Context, obj *corev1.ConfigMap) (admission.Warnings, error) {
	if obj.Labels["keep"] != "" {
		return nil, errors.New("it is to be kept")
	}
	return nil, nil
}

// certificate makes a certificate for 127.0.0.1 that signs itself, and writes it where controller-runtime reads it.
func certificate(t *testing.T) (dir string, bundle []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir, bundle = t.TempDir(), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "tls.crt"), bundle, 0o600),
		os.WriteFile(filepath.Join(dir, "tls.key"), keyPEM, 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir, bundle
}

// freePort returns a port that nobody listens on at the moment: controller-runtime takes 0 for its default.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// startManager runs a manager whose webhook server has the rules, and returns its URL.
func (s *shop) startManager(t *testing.T) (url string, bundle []byte) {
	t.Helper()
	log.SetLogger(logr.Discard())
	dir, bundle := certificate(t)
	port := freePort(t)
	manager, err := ctrl.NewManager(s.config, ctrl.Options{
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: dir}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ctrl.NewWebhookManagedBy(manager, &corev1.ConfigMap{}).WithDefaulter(rules{}).WithValidator(rules{}).
		Complete(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	started := manager.GetWebhookServer().StartedChecker()
	eventually(t, func(context.Context) error { return started(nil) })
	return "https://127.0.0.1:" + strconv.Itoa(port), bundle
}

// TestControllerRuntime: webhooks that controller-runtime serves complete and check what clients write.
func TestControllerRuntime(t *testing.T) {
	s := start(t)
	url, bundle := s.startManager(t)
	var warnings bytes.Buffer
	config := rest.CopyConfig(s.config)
	config.WarningHandler = rest.NewWarningWriter(&warnings, rest.WarningWriterOptions{})
	ctx, c := t.Context(), newClient(t, config)
	all := []registration.RuleWithOperations{{
		Operations: []registration.OperationType{registration.OperationAll},
		Rule: registration.Rule{
			APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"},
		},
	}}
	inDefault := &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "default"}}
	reached := func(path string) registration.WebhookClientConfig {
		return registration.WebhookClientConfig{URL: new(url + path), CABundle: bundle}
	}
	none := new(registration.SideEffectClassNone)
	for _, obj := range []client.Object{
		&registration.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "rules"}, Webhooks: []registration.MutatingWebhook{{
				Name: "mconfigmap.kb.io", AdmissionReviewVersions: []string{"v1"}, SideEffects: none, Rules: all,
				NamespaceSelector: inDefault, ClientConfig: reached("/mutate--v1-configmap"),
			}},
		},
		&registration.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "rules"}, Webhooks: []registration.ValidatingWebhook{{
				Name: "vconfigmap.kb.io", AdmissionReviewVersions: []string{"v1"}, SideEffects: none, Rules: all,
				NamespaceSelector: inDefault, ClientConfig: reached("/validate--v1-configmap"),
			}},
		},
	} {
		if err := c.Create(ctx, obj); err != nil {
			t.Fatal(err)
		}
	}
	configMap := func(name, size string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: namespaced(name), Data: map[string]string{"size": size}}
	}
	eventually(t, func(ctx context.Context) error {
		if err := c.Create(ctx, configMap("probe", ""), client.DryRunAll); err == nil {
			return errors.New("not refused yet")
		}
		return nil
	})
	refused(t, c.Create(ctx, configMap("a", "")), "it has no size")
	eventually(t, func(ctx context.Context) error {
		probe := configMap("probe", "small")
		if err := c.Create(ctx, probe, client.DryRunAll); err != nil || probe.Annotations["by"] == "" {
			return fmt.Errorf("not completed yet: %v, %w", probe.Annotations, err)
		}
		return nil
	})
	obj := configMap("a", "large")
	if err := c.Create(ctx, obj); err != nil || obj.Annotations["by"] != "apigen:admin" {
		t.Errorf("%v, %v", obj.Annotations, err)
	}
	if !strings.Contains(warnings.String(), "large is expensive") {
		t.Errorf("warnings: %s", warnings.String())
	}
	refused(t, c.Patch(ctx, obj, merge(`{"data": {"size": "small"}}`)), "the size large is for ever")
	if err := c.Patch(ctx, obj, merge(`{"metadata": {"labels": {"keep": "yes"}}}`)); err != nil {
		t.Error(err)
	}
	refused(t, c.Delete(ctx, obj), "it is to be kept")
	refused(t, c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace("default"),
		client.MatchingLabels{"keep": "yes"}), "it is to be kept")
	elsewhere := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "a"}}
	if err := c.Create(ctx, elsewhere); err != nil {
		t.Errorf("in another namespace: %v", err)
	}
}

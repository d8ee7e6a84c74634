package webhooks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const module = "github.com/cert-manager/cert-manager"

// buildWebhook builds cert-manager's webhook from its module and with the versions of its go.mod. The program is a main
// of ours around it, since the module has none: it takes the webhook's flags, and prints its port.
func buildWebhook(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	from, dir := strings.TrimSpace(string(out)), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	main, err := os.ReadFile(filepath.Join("testdata", "webhook.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "cmd", "webhook")
	if err := errors.Join(makeWritable(dir), os.MkdirAll(path, 0o700),
		os.WriteFile(filepath.Join(path, "main.go"), main, 0o600)); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "webhook")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./cmd/webhook")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// makeWritable lets the test remove files that are copies of those of the module cache.
func makeWritable(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, 0o700) //nolint:gosec // It is a directory.
		}
		return err
	})
}

// startWebhook runs cert-manager's webhook against the server. It makes its own certificates, whose authority it keeps
// in a Secret. The function that it returns ends the webhook.
func (s *shop) startWebhook(t *testing.T, binary string) (stop func()) {
	t.Helper()
	var log bytes.Buffer
	webhook := exec.CommandContext(t.Context(), binary, "--kubeconfig="+s.kubeconfig, "--secure-port=0",
		"--healthz-port=0", "--metrics-listen-address=0", "--dynamic-serving-ca-secret-namespace=cert-manager",
		"--dynamic-serving-ca-secret-name=ca", "--dynamic-serving-dns-names=webhook.cert-manager.svc")
	webhook.Stderr = &log
	out, err := webhook.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := webhook.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = webhook.Process.Kill()
		_ = webhook.Wait() // it was killed
	})
	t.Cleanup(stop)
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	address := "127.0.0.1:" + strings.TrimSpace(port)
	s.service.Store(&address)
	return stop
}

func newClient(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	known := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(known), certmanager.AddToScheme(known)); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: known})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// register registers cert-manager's webhook as its Helm chart does.
func register(t *testing.T, c client.Client, bundle []byte) {
	t.Helper()
	reached := func(path string) registration.WebhookClientConfig {
		return registration.WebhookClientConfig{
			Service:  &registration.ServiceReference{Namespace: "cert-manager", Name: "webhook", Path: &path},
			CABundle: bundle,
		}
	}
	rule := func(operations []registration.OperationType, groups []string, resource string,
	) []registration.RuleWithOperations {
		return []registration.RuleWithOperations{{Operations: operations, Rule: registration.Rule{
			APIGroups: groups, APIVersions: []string{"v1"}, Resources: []string{resource},
		}}}
	}
	meta, none := metav1.ObjectMeta{Name: "cert-manager-webhook"}, new(registration.SideEffectClassNone)
	mutating := &registration.MutatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []registration.MutatingWebhook{{
		Name: "webhook.cert-manager.io", AdmissionReviewVersions: []string{"v1"}, SideEffects: none,
		ClientConfig: reached("/mutate"), Rules: rule([]registration.OperationType{registration.Create},
			[]string{"cert-manager.io"}, "certificaterequests"),
	}}}
	validating := &registration.ValidatingWebhookConfiguration{
		ObjectMeta: meta, Webhooks: []registration.ValidatingWebhook{{
			Name: "webhook.cert-manager.io", AdmissionReviewVersions: []string{"v1"}, SideEffects: none,
			ClientConfig: reached("/validate"), Rules: rule(
				[]registration.OperationType{registration.Create, registration.Update},
				[]string{"cert-manager.io", "acme.cert-manager.io"}, "*/*"),
		}},
	}
	for _, obj := range []client.Object{mutating, validating} {
		if err := c.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
}

// newRequest returns a certificate request with a signing request of its own.
func newRequest(t *testing.T, name string) *certmanager.CertificateRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.CertificateRequest{DNSNames: []string{"a.example.com"}}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		t.Fatal(err)
	}
	return &certmanager.CertificateRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: certmanager.CertificateRequestSpec{
			Request:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			IssuerRef: cmmeta.IssuerReference{Name: "ca"},
		},
	}
}

func newCertificate(name, issuer string) *certmanager.Certificate {
	return &certmanager.Certificate{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: certmanager.CertificateSpec{
			SecretName: name, DNSNames: []string{"a.example.com"}, IssuerRef: cmmeta.IssuerReference{Name: issuer},
		},
	}
}

// refused fails the test unless err is a webhook's refusal with some words.
func refused(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "denied the request") || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want a refusal with %q", err, words)
	}
}

// alice returns a client of a user whom nobody has given rights yet, and gives her those of an editor.
func (s *shop) alice(t *testing.T, admin client.Client) client.Client {
	t.Helper()
	if err := admin.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "certificates"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"cert-manager.io"}, Verbs: []string{"*"},
			Resources: []string{"certificaterequests", "certificaterequests/status"},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	bind(t, admin, "certificates")
	config := rest.CopyConfig(s.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "alice", Groups: []string{"dev"}}
	return newClient(t, config)
}

func bind(t *testing.T, admin client.Client, role string) {
	t.Helper()
	if err := admin.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "alice"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}); err != nil {
		t.Fatal(err)
	}
}

// TestCertManager: cert-manager's webhook, built from its module, guards cert-manager's kinds that apigen serves. It
// completes and checks objects, keeps its certificates in the server, and asks the server who may approve what.
func TestCertManager(t *testing.T) {
	binary := buildWebhook(t)
	s := start(t)
	ctx, admin := t.Context(), newClient(t, s.config)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cert-manager"}}
	if err := admin.Create(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	stop := s.startWebhook(t, binary)
	secret := &corev1.Secret{}
	eventually(t, func(ctx context.Context) error {
		err := admin.Get(ctx, client.ObjectKey{Namespace: "cert-manager", Name: "ca"}, secret)
		if err == nil && len(secret.Data["ca.crt"]) == 0 {
			err = errors.New("no certificate yet")
		}
		return err
	})
	register(t, admin, secret.Data["ca.crt"])

	// The webhook refuses what cert-manager doesn't take.
	eventually(t, func(ctx context.Context) error {
		bad := newCertificate("bad", "")
		if err := admin.Create(ctx, bad, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "denied") {
			return fmt.Errorf("it isn't refused: %w", err)
		}
		return nil
	})
	refused(t, admin.Create(ctx, newCertificate("bad", "")), "spec.issuerRef.name: Required value")
	good := newCertificate("good", "ca")
	if err := admin.Create(ctx, good); err != nil {
		t.Fatal(err)
	}
	refused(t, admin.Patch(ctx, good, merge(`{"spec": {"duration": "1h", "renewBefore": "2h"}}`)),
		"certificate duration 1h0m0s must be greater than renewBefore 2h0m0s")

	// The webhook notes who asks, and nobody changes that.
	alice := s.alice(t, admin)
	request := newRequest(t, "one")
	eventually(t, func(ctx context.Context) error {
		request = newRequest(t, "one")
		return alice.Create(ctx, request)
	})
	if request.Spec.Username != "alice" || !strings.Contains(strings.Join(request.Spec.Groups, " "), "dev") {
		t.Errorf("the request is of %q, %q", request.Spec.Username, request.Spec.Groups)
	}
	pretended := request.DeepCopy()
	pretended.Spec.Username = "bob"
	refused(t, alice.Update(ctx, pretended), "spec.username")

	// Only who may approve for the issuer approves.
	approve := func() error {
		return alice.SubResource("status").Patch(ctx, request.DeepCopy(),
			merge(`{"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "test"}]}}`))
	}
	refused(t, approve(), `user "alice" does not have permissions to set approved/denied conditions`)
	if err := admin.Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "approver"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"cert-manager.io"}, Resources: []string{"signers"}, Verbs: []string{"approve"},
			ResourceNames: []string{"issuers.cert-manager.io/default.ca"},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	bind(t, admin, "approver")
	eventually(t, func(context.Context) error { return approve() })
	if err := admin.Get(ctx, client.ObjectKeyFromObject(request), request); err != nil ||
		len(request.Status.Conditions) != 1 {
		t.Errorf("%+v, %v", request.Status, err)
	}

	// Without the webhook nothing passes that it guards, and everything else does.
	stop()
	if err := admin.Create(ctx, newCertificate("late", "ca")); !apierrors.IsInternalError(err) ||
		!strings.Contains(err.Error(), `failed calling webhook "webhook.cert-manager.io"`) {
		t.Errorf("without the webhook: %v", err)
	}
	if err := admin.Create(ctx, &corev1.ConfigMap{ObjectMeta: namespaced("other")}); err != nil {
		t.Error(err)
	}
}

func merge(patch string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(patch)) }

func namespaced(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

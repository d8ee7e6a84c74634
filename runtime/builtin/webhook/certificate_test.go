package webhook_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// A webhook whose certificate has expired is not called, and its failure policy decides.
func TestExpiredCertificate(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(-time.Minute),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	called := false
	h := &hook{ca: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	h.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.StartTLS()
	t.Cleanup(h.Close)
	s := start(t, nil)
	for _, policy := range []registration.FailurePolicyType{registration.Fail, registration.Ignore} {
		name := strings.ToLower(string(policy))
		data, err := json.Marshal(h.validating(name, func(w *registration.ValidatingWebhook) {
			w.FailurePolicy = &policy
			w.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"policy": name}}
		}))
		if err != nil {
			t.Fatal(err)
		}
		code, body := send(t, s, http.MethodPost,
			"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", string(data))
		if code != http.StatusCreated {
			t.Fatalf("%d %s", code, body)
		}
	}
	object := func(policy string) string {
		return `{"metadata":{"name":"` + policy + `","labels":{"policy":"` + policy + `"}}}`
	}
	var code int
	var body string
	if err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, 2*time.Minute, true,
		func(context.Context) (bool, error) {
			code, body = send(t, s, http.MethodPost, maps+"?dryRun=All", object("fail"))
			return code == http.StatusInternalServerError, nil
		}); err != nil || !strings.Contains(body, "certificate has expired or is not yet valid") {
		t.Errorf("%d %s", code, body)
	}
	if code, body := send(t, s, http.MethodPost, maps, object("ignore")); code != http.StatusCreated {
		t.Errorf("%d %s", code, body)
	}
	if called {
		t.Error("the webhook was called")
	}
}

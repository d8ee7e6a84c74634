package webhook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/admissionregistration"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/builtin/webhook"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Webhooks from files are called by a server that serves no configurations, and see configurations if it does.
func TestStaticManifests(t *testing.T) {
	h := serve(t, says(admissionv1.AdmissionResponse{Result: &metav1.Status{Message: "no"}}))
	all := registration.RuleWithOperations{
		Operations: []registration.OperationType{registration.OperationAll},
		Rule: registration.Rule{
			APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"},
		},
	}
	manifest := func(change ...func(*registration.ValidatingWebhook)) string {
		change = append(change, func(w *registration.ValidatingWebhook) {
			w.Rules = []registration.RuleWithOperations{all}
		})
		data, err := json.Marshal(h.validating("x.static.k8s.io", change...))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	configured := func(content string) (*server.Config, error) {
		dir, config := t.TempDir(), &server.Config{}
		if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := config.Use(t.Context(), new(webhook.Feature)); err != nil {
			t.Fatal(err)
		}
		for _, plugin := range config.Admission {
			if plugin.Name == "ValidatingAdmissionWebhook" {
				return config, plugin.Configure(fmt.Appendf(nil, `{"apiVersion": "apiserver.config.k8s.io/v1",
					"kind": "WebhookAdmissionConfiguration", "staticManifestsDir": %q}`, dir), "")
			}
		}
		return config, errors.New("there is no such plug-in")
	}
	for _, groups := range [][]registry.Group{
		(&core.Feature{}).Groups(), append((&core.Feature{}).Groups(), (&admissionregistration.Feature{}).Groups()...),
	} {
		config, err := configured(manifest())
		if err != nil {
			t.Fatal(err)
		}
		s := apitest.StartWith(t, func(of *server.Config) { of.Admission, of.Hooks = config.Admission, config.Hooks },
			groups...)
		const want = `admission webhook \"x.static.k8s.io.example.com\" denied the request: no`
		code, answer := send(t, s, http.MethodPost, "/api/v1/namespaces", `{"metadata": {"name": "a"}}`)
		if code != http.StatusBadRequest || !strings.Contains(answer, want) {
			t.Errorf("%d %s", code, answer)
		}
		code, answer = send(t, s, http.MethodPost,
			"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", `{"metadata": {"name": "a"}}`)
		if len(groups) > 1 && (code != http.StatusBadRequest || !strings.Contains(answer, want)) {
			t.Errorf("%d %s", code, answer)
		}
	}
	_, err := configured(manifest(func(w *registration.ValidatingWebhook) {
		w.ClientConfig.URL, w.ClientConfig.Service = nil, &registration.ServiceReference{Name: "a", Namespace: "b"}
	}))
	if err == nil || !strings.Contains(err.Error(), "clientConfig.service is not supported for static manifests") {
		t.Error(err)
	}
}

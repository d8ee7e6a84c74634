package webhook_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/admissionregistration"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/builtin/lifecycle"
	"apigen.dev/runtime/builtin/webhook"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
)

// hook is a webhook that answers reviews by a function, and keeps what it was asked.
type hook struct {
	*httptest.Server
	ca []byte

	mu    sync.Mutex
	asked []admissionv1.AdmissionReview
}

func serve(t *testing.T, answer func(w http.ResponseWriter, review *admissionv1.AdmissionReview)) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Errorf("a review can't be read: %v", err)
		}
		h.mu.Lock()
		h.asked = append(h.asked, *review.DeepCopy())
		h.mu.Unlock()
		answer(w, &review)
	}))
	h.Config.ErrorLog = nil
	t.Cleanup(h.Close)
	h.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	return h
}

// questions returns what the webhook was asked about objects of a name.
func (h *hook) questions(name string) (all []admissionv1.AdmissionReview) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, review := range h.asked {
		var old struct{ Metadata struct{ Name string } }
		_ = json.Unmarshal(review.Request.OldObject.Raw, &old) // which a creation doesn't have
		// The deletion of a collection names no object.
		if review.Request.Name == name || review.Request.Name == "" && old.Metadata.Name == name {
			all = append(all, review)
		}
	}
	return all
}

// says answers with a response, which gets the UID of its question.
func says(response admissionv1.AdmissionResponse) func(http.ResponseWriter, *admissionv1.AdmissionReview) {
	return func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		answer := response.DeepCopy()
		answer.UID = review.Request.UID
		review.Request, review.Response = nil, answer
		_ = json.NewEncoder(w).Encode(review) // the server may have left
	}
}

func patches(text string) func(http.ResponseWriter, *admissionv1.AdmissionReview) {
	return says(admissionv1.AdmissionResponse{
		Allowed: true, Patch: []byte(text), PatchType: ptr.To(admissionv1.PatchTypeJSONPatch),
	})
}

var (
	allows     = says(admissionv1.AdmissionResponse{Allowed: true})
	configMaps = []registration.RuleWithOperations{{
		Operations: []registration.OperationType{registration.OperationAll},
		Rule: registration.Rule{
			APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"},
		},
	}}
)

// mutating returns a configuration with one webhook.
func (h *hook) mutating(name string, change ...func(*registration.MutatingWebhook)) any {
	w := registration.MutatingWebhook{
		Name: name + ".example.com", Rules: configMaps, SideEffects: ptr.To(registration.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: ptr.To(int32(30)),
		ClientConfig: registration.WebhookClientConfig{URL: &h.URL, CABundle: h.ca},
	}
	for _, do := range change {
		do(&w)
	}
	return &registration.MutatingWebhookConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration",
		},
		ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []registration.MutatingWebhook{w},
	}
}

func (h *hook) validating(name string, change ...func(*registration.ValidatingWebhook)) any {
	w := registration.ValidatingWebhook{
		Name: name + ".example.com", Rules: configMaps, SideEffects: ptr.To(registration.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: ptr.To(int32(30)),
		ClientConfig: registration.WebhookClientConfig{URL: &h.URL, CABundle: h.ca},
	}
	for _, do := range change {
		do(&w)
	}
	return &registration.ValidatingWebhookConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration",
		},
		ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []registration.ValidatingWebhook{w},
	}
}

func start(t *testing.T, services server.Services, configurations ...any) *apitest.Server {
	t.Helper()
	var groups []registry.Group
	groups = append(groups, (&core.Feature{}).Groups()...)
	groups = append(groups, (&admissionregistration.Feature{}).Groups()...)
	s := apitest.StartWith(t, func(config *server.Config) {
		config.Services = services
		for _, feature := range []server.Feature{new(lifecycle.Feature), new(webhook.Feature)} {
			if err := config.Use(t.Context(), feature); err != nil {
				t.Fatal(err)
			}
		}
	}, groups...)
	for _, configuration := range configurations {
		register(t, s, configuration)
	}
	return s
}

// patience is how long a condition may take to come true before a test gives up. No test passes by it.
const patience = 2 * time.Minute

// register creates a configuration, and waits until the server calls its webhook.
func register(t *testing.T, s *apitest.Server, configuration any) {
	t.Helper()
	plural, hookName := "validatingwebhookconfigurations", ""
	switch c := configuration.(type) {
	case *registration.MutatingWebhookConfiguration:
		plural, hookName = "mutatingwebhookconfigurations", c.Webhooks[0].Name
	case *registration.ValidatingWebhookConfiguration:
		hookName = c.Webhooks[0].Name
	}
	data, err := json.Marshal(configuration)
	if err != nil {
		t.Fatal(err)
	}
	if code, body := send(t, s, http.MethodPost, "/apis/admissionregistration.k8s.io/v1/"+plural,
		string(data)); code != http.StatusCreated {
		t.Fatalf("%d %s", code, body)
	}
	// A change of the store is seen a little later. The probe is called by every webhook.
	if err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, patience, true,
		func(context.Context) (bool, error) {
			if _, body := send(t, s, http.MethodPost, "/api/v1/namespaces/default/configmaps?dryRun=All",
				`{"metadata":{"name":"probe"}}`); strings.Contains(body, hookName) {
				return true, nil
			}
			_, metrics := send(t, s, http.MethodGet, "/metrics", "")
			return strings.Contains(metrics, `name="`+hookName+`"`), nil
		}); err != nil {
		t.Fatal(err)
	}
}

func send(t *testing.T, s *apitest.Server, method, path, body string) (code int, answer string) {
	t.Helper()
	response := do(t, s, method, path, body)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}

func do(t *testing.T, s *apitest.Server, method, path, body string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := s.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

const maps = "/api/v1/namespaces/default/configmaps"

func TestMutation(t *testing.T) {
	first := serve(t, patches(`[{"op":"add","path":"/data","value":{"first":"1"}}]`))
	second := serve(t, patches(`[{"op":"add","path":"/data/second","value":"2"}]`))
	s := start(t, nil, first.mutating("a", func(w *registration.MutatingWebhook) {
		w.ReinvocationPolicy = ptr.To(registration.IfNeededReinvocationPolicy)
	}), second.mutating("b"))
	code, body := send(t, s, http.MethodPost, maps, `{"metadata":{"name":"x"}}`)
	if code != http.StatusCreated || !strings.Contains(body, `"first":"1"`) {
		t.Fatalf("%d %s", code, body)
	}
	// The first is called again because the second changed the object; what it then does isn't seen by the second.
	if n, m := len(first.questions("x")), len(second.questions("x")); n != 2 || m != 1 {
		t.Errorf("the webhooks were called %d and %d times, want 2 and 1", n, m)
	}
	asked := second.questions("x")[0].Request
	if string(asked.Operation) != "CREATE" || asked.Namespace != "default" || asked.Kind.Kind != "ConfigMap" ||
		asked.UserInfo.Username == "" || !strings.Contains(string(asked.Object.Raw), `"first":"1"`) ||
		!strings.Contains(string(asked.Options.Raw), `"kind":"CreateOptions"`) {
		t.Errorf("it was asked %+v about %s", asked, asked.Object.Raw)
	}
}

func TestValidation(t *testing.T) {
	refuses := serve(t, says(admissionv1.AdmissionResponse{
		Warnings: []string{"be careful"}, Result: &metav1.Status{Message: "no", Code: 422, Reason: "Invalid"},
	}))
	s := start(t, nil, refuses.validating("v"))
	response := do(t, s, http.MethodPost, maps, `{"metadata":{"name":"x"}}`)
	defer response.Body.Close()
	var status metav1.Status
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusUnprocessableEntity ||
		status.Message != `admission webhook "v.example.com" denied the request: no` ||
		status.Reason != "Invalid" {
		t.Errorf("%d %+v", response.StatusCode, status)
	}
	if got := response.Header.Get("Warning"); got != `299 - "be careful"` {
		t.Errorf("warning %s", got)
	}
}

// What a webhook does wrong fails the write, or is ignored, as its failure policy says.
func TestFailures(t *testing.T) {
	garbage := func(text string) func(http.ResponseWriter, *admissionv1.AdmissionReview) {
		return func(w http.ResponseWriter, _ *admissionv1.AdmissionReview) { _, _ = io.WriteString(w, text) }
	}
	hang := make(chan struct{})
	release := sync.OnceFunc(func() { close(hang) })
	huge := strings.Repeat("[", 1<<20)
	cases := []struct {
		name    string
		answer  func(http.ResponseWriter, *admissionv1.AdmissionReview)
		message string
		// always reports whether the failure policy doesn't matter.
		always bool
	}{
		{"hangs", func(http.ResponseWriter, *admissionv1.AdmissionReview) { <-hang },
			`failed to call webhook: Post`, false},
		{"garbage", garbage("hello"), `the answer of the webhook is no JSON object`, false},
		{"nothing", garbage(""), `0-length response with status code: 200`, false},
		{"no response", garbage(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`),
			`received invalid webhook response: webhook response was absent`, false},
		{"another UID", garbage(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"1"}}`),
			`received invalid webhook response: expected response.uid=`, false},
		{"500", func(w http.ResponseWriter, _ *admissionv1.AdmissionReview) {
			w.WriteHeader(http.StatusInternalServerError)
		},
			`an error on the server (\"\") has prevented the request from succeeding`, false},
		{"500 MB", func(w http.ResponseWriter, _ *admissionv1.AdmissionReview) {
			for range 500 {
				if _, err := io.WriteString(w, huge); err != nil {
					return
				}
			}
		}, `the answer is too large`, false},
		{"undecodable patch", patches(`{`), `received undecodable patch in webhook response`, false},
		{"patch type", says(admissionv1.AdmissionResponse{Allowed: true, Patch: []byte("[]")}),
			`webhook returned response.patch but not response.patchType`, false},
		{"wrong path", patches(`[{"op":"remove","path":"/data/a"}]`), ``, true},
		{"another namespace", patches(`[{"op":"replace","path":"/metadata/namespace","value":"y"}]`), ``, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			timeout := int32(30) // so that a busy machine fails no webhook that answers
			if c.name == "hangs" {
				timeout = 1
			}
			h := serve(t, c.answer)
			s := start(t, nil, h.mutating("m", func(w *registration.MutatingWebhook) { w.TimeoutSeconds = &timeout }))
			code, body := send(t, s, http.MethodPost, maps, `{"metadata":{"name":"x"}}`)
			if code < 400 || !strings.Contains(body, c.message) {
				t.Errorf("%d %s, want a failure with %q", code, body, c.message)
			}
			if c.message != "" && code != http.StatusInternalServerError {
				t.Errorf("%d, want 500", code)
			}
			if code, body := send(t, s, http.MethodGet, maps+"/x", ""); code != http.StatusNotFound {
				t.Errorf("the object: %d %s", code, body)
			}
			if c.always {
				return
			}
			send(t, s, http.MethodDelete, "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/m", "")
			ignore := serve(t, c.answer)
			if c.name == "hangs" {
				t.Cleanup(release) // before the webhooks are closed
			}
			register(t, s, ignore.mutating("i", func(w *registration.MutatingWebhook) {
				w.TimeoutSeconds, w.FailurePolicy = &timeout, ptr.To(registration.Ignore)
			}))
			if err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, patience, true,
				func(context.Context) (bool, error) { // until the first one is forgotten
					code, _ = send(t, s, http.MethodPost, maps, `{"metadata":{"name":"x"}}`)
					return code == http.StatusCreated, nil
				}); err != nil {
				t.Errorf("%d although the failure policy is Ignore", code)
			}
		})
	}
}

// A webhook can't make an object another one.
func TestIdentity(t *testing.T) {
	for _, c := range []struct{ path, message string }{
		{"name", "metadata.name: Invalid value: \\\"y\\\": field is immutable"},
		{"uid", "metadata.uid: Invalid value: \\\"y\\\": field is immutable"},
	} {
		h := serve(t, patches(`[{"op":"replace","path":"/metadata/`+c.path+`","value":"y"}]`))
		s := start(t, nil)
		send(t, s, http.MethodPost, maps, `{"metadata":{"name":"x"}}`)
		register(t, s, h.mutating("m", func(w *registration.MutatingWebhook) {
			w.Rules = []registration.RuleWithOperations{w.Rules[0]}
			w.MatchConditions = []registration.MatchCondition{{
				Name: "c", Expression: `request.operation == "UPDATE" || request.name == "probe"`,
			}}
		}))
		code, body := send(t, s, http.MethodPatch, maps+"/x", `{"data":{"a":"b"}}`)
		if code < 400 || !strings.Contains(body, c.message) {
			t.Errorf("%s: %d %s", c.path, code, body)
		}
	}
}

// A webhook that asks the same server for a write that it is asked about again ends with the time of the request.
func TestRecursion(t *testing.T) {
	var s *apitest.Server
	var depth sync.WaitGroup
	h := serve(t, func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		depth.Add(1)
		defer depth.Done()
		if review.Request.Name != "probe" && len(review.Request.Name) < 40 {
			send(t, s, http.MethodPost, maps, fmt.Sprintf(`{"metadata":{"name":"%sx"}}`, review.Request.Name))
		}
		allows(w, review)
	})
	s = start(t, nil)
	register(t, s, h.validating("r"))
	began := time.Now()
	if code, body := send(t, s, http.MethodPost, maps, `{"metadata":{"name":"x"}}`); code != http.StatusCreated {
		t.Errorf("%d %s", code, body)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	depth.Wait()
}

func TestWhatIsCalled(t *testing.T) {
	h := serve(t, allows)
	s := start(t, nil, h.validating("v", func(w *registration.ValidatingWebhook) {
		w.ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: "skip", Operator: metav1.LabelSelectorOpDoesNotExist,
		}}}
		w.MatchConditions = []registration.MatchCondition{{
			Name: "c", Expression: `request.operation == "DELETE" || !has(object.data) || object.data.a != "skip"`,
		}}
	}))
	for name, body := range map[string]string{
		"labelled": `{"metadata":{"name":"labelled","labels":{"skip":""}}}`,
		"excluded": `{"metadata":{"name":"excluded"},"data":{"a":"skip"}}`,
		"seen":     `{"metadata":{"name":"seen"},"data":{"a":"b"}}`,
	} {
		if code, body := send(t, s, http.MethodPost, maps, body); code != http.StatusCreated {
			t.Fatalf("%s: %d %s", name, code, body)
		}
	}
	if n := len(h.questions("labelled")) + len(h.questions("excluded")); n != 0 {
		t.Errorf("it was asked %d times about what it doesn't select", n)
	}
	send(t, s, http.MethodPatch, maps+"/seen", `{"data":{"a":"c"}}`)
	send(t, s, http.MethodDelete, maps+"/seen?dryRun=All", "")
	send(t, s, http.MethodDelete, maps, "")
	var operations []string
	for _, review := range h.questions("seen") {
		operations = append(operations, string(review.Request.Operation)+fmt.Sprint(*review.Request.DryRun))
	}
	want := "CREATEfalse UPDATEfalse DELETEtrue DELETEfalse"
	if got := strings.Join(operations, " "); got != want {
		t.Errorf("it was asked about %s, want %s", got, want)
	}
}

// A webhook behind a service is reached at the address that the main's resolver gives.
func TestService(t *testing.T) {
	h := serve(t, allows)
	u, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	resolve := func(_ context.Context, namespace, name string, port int32) (string, error) {
		if namespace != "system" || name != "example" || port != 8443 {
			return "", errors.New("no such service")
		}
		return u.Host, nil
	}
	service := func(name string) func(*registration.ValidatingWebhook) {
		return func(w *registration.ValidatingWebhook) {
			w.ClientConfig.URL = nil
			w.ClientConfig.Service = &registration.ServiceReference{
				Namespace: "system", Name: name, Path: ptr.To("/check"), Port: ptr.To(int32(8443)),
			}
		}
	}
	s := start(t, resolve, h.validating("v", service("other")))
	_, body := send(t, s, http.MethodPost, maps, `{"metadata":{"name":"x"}}`)
	if !strings.Contains(body, `https://other.system.svc:8443/check?timeout=30s`) ||
		!strings.Contains(body, "no such service") {
		t.Error(body)
	}
	// The certificate of the test is for example.com, not for example.system.svc.
	send(t, s, http.MethodDelete, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v", "")
	register(t, s, h.validating("w", service("example")))
	_, body = send(t, s, http.MethodPost, maps, `{"metadata":{"name":"x"}}`)
	if !strings.Contains(body, "not example.system.svc") {
		t.Error(body)
	}
}

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	h := serve(t, allows)
	s := start(t, nil, h.validating("v", func(w *registration.ValidatingWebhook) {
		w.ClientConfig.URL = ptr.To("https://" + address)
	}))
	code, body := send(t, s, http.MethodPost, maps, `{"metadata":{"name":"x"}}`)
	const message = `failed calling webhook \"v.example.com\": failed to call webhook: Post`
	if code != 500 || !strings.Contains(body, message) {
		t.Errorf("%d %s", code, body)
	}
}

package exchange

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin"
	policy "apigen.dev/runtime/conformance/builtin/policy/wiring"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// admissionHTTP is the folder of the scripts about admission: policies, webhooks, quotas and namespaces.
const admissionHTTP = "admission/http"

// startAdmission is a server of ours with all that builtin.Standalone has, and the administrator of the recorded
// kube-apiserver.
func startAdmission(t *testing.T) *world {
	t.Helper()
	features := builtin.Standalone()
	groups := []registry.Group{policy.Group()}
	flags := pflag.NewFlagSet("ours", pflag.ContinueOnError)
	for _, feature := range features {
		groups = append(groups, feature.Groups()...)
		feature.AddFlags(flags)
	}
	if err := flags.Parse([]string{"--service-account-issuer=https://kubernetes.default.svc"}); err != nil {
		t.Fatal(err)
	}
	tokens := new(auth.Tokens)
	tokens.Add(theirsToken, &auth.User{Name: "admin", UID: "1", Groups: []string{auth.Masters}})
	s := apitest.StartWith(t, func(config *server.Config) {
		config.Authentication.Tokens = append(config.Authentication.Tokens, tokens)
		config.DataDir = t.TempDir()
		for _, feature := range features {
			if err := config.Use(t.Context(), feature); err != nil {
				t.Fatal(err)
			}
		}
	}, groups...)
	w := worldOf(s)
	w.token = theirsToken
	w.hook = startHook(t)
	return w
}

// TestAdmission: requests about policies, webhooks, quotas and namespaces are answered as kube-apiserver answers them.
func TestAdmission(t *testing.T) {
	t.Parallel()
	ours := startAdmission(t)
	requests := 0
	for _, path := range scripts(t, admissionHTTP) {
		s := readScript(t, path)
		for _, scene := range s.scenes {
			requests += len(scene.exchanges)
			t.Run(scene.name, func(t *testing.T) { replay(t, ours, scene) })
		}
		if *differ {
			s.write(t)
		}
	}
	if requests < 300 {
		t.Errorf("%d requests are too few", requests)
	}
}

// hook is a webhook that answers as the path of its URL says.
type hook struct {
	url string
	// bundle is the certificate in PEM in base64.
	bundle string
}

func startHook(t *testing.T) *hook {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(answerReview))
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return &hook{s.URL, base64.StdEncoding.EncodeToString(ca)}
}

var jsonPatch = admissionv1.PatchTypeJSONPatch

// responses are those of valid answers, by the path.
var responses = map[string]admissionv1.AdmissionResponse{
	"allow":        {Allowed: true},
	"deny":         {},
	"deny-message": {Result: &metav1.Status{Message: "not today"}},
	"deny-code":    {Result: &metav1.Status{Code: 418, Message: "tea"}},
	"deny-invalid": {Result: &metav1.Status{
		Code: 422, Reason: "Invalid", Message: "bad", Details: &metav1.StatusDetails{
			Causes: []metav1.StatusCause{{Field: "data", Message: "wrong", Type: "FieldValueInvalid"}},
		},
	}},
	"deny-low":         {Result: &metav1.Status{Code: 200, Message: "low"}},
	"deny-success":     {Result: &metav1.Status{Status: "Success"}},
	"deny-reason":      {Result: &metav1.Status{Reason: "Because"}},
	"warn":             {Allowed: true, Warnings: []string{"be careful", "very"}},
	"patch-validating": {Allowed: true, Patch: []byte("[]"), PatchType: &jsonPatch},
	"patch-no-type":    {Allowed: true, Patch: []byte("[]")},
	"type-no-patch":    {Allowed: true, PatchType: &jsonPatch},
	"bad-patch":        patched("{"),
	"bad-type": {Allowed: true, Patch: []byte(`[{"op":"add","path":"/a","value":1}]`),
		PatchType: new(admissionv1.PatchType("Merge"))},
	"patch-wrong-path": patched(`[{"op":"remove","path":"/data/absent"}]`),
	"patch-no-object":  patched(`[{"op":"replace","path":"","value":1}]`),
	"patch-label":      patched(`[{"op":"add","path":"/metadata/labels","value":{"patched":"yes"}}]`),
	"patch-namespace":  patched(`[{"op":"replace","path":"/metadata/namespace","value":"other"}]`),
	"patch-kind":       patched(`[{"op":"replace","path":"/kind","value":"Secret"}]`),
}

func patched(operations string) admissionv1.AdmissionResponse {
	return admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(operations), PatchType: &jsonPatch}
}

func answerReview(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	uid := review.Request.UID
	how := path.Base(r.URL.Path)
	response, valid := responses[how]
	switch how {
	case "garbage":
		_, _ = io.WriteString(w, "}{")
		return
	case "empty":
		return
	case "text":
		http.Error(w, "out of order", http.StatusServiceUnavailable)
		return
	case "hang":
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // an answer could reach a client that is about to give up
	case "status-500", "status-404":
		var code int
		_, _ = fmt.Sscanf(how, "status-%d", &code)
		w.WriteHeader(code)
		return
	case "status-body":
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"clash","code":409}`)
		return
	case "wrong-uid":
		uid, response, valid = "another", responses["allow"], true
	case "wrong-kind":
		review.Kind, response, valid = "", responses["allow"], true
		review.APIVersion = ""
	case "beta":
		response, valid = responses["deny-message"], true
	case "count":
		response, valid = counted(&review), true
	}
	review.Request = nil
	if valid {
		response.UID = uid
		review.Response = &response
	}
	_ = json.NewEncoder(w).Encode(review)
}

// counted notes in the data of a config map whether the label was there at the call.
func counted(review *admissionv1.AdmissionReview) admissionv1.AdmissionResponse {
	var object struct{ Metadata metav1.ObjectMeta }
	if review.Request.Object.Raw == nil || json.Unmarshal(review.Request.Object.Raw, &object) != nil {
		return responses["allow"]
	}
	return patched(fmt.Sprintf(`[{"op":"add","path":"/data","value":{"labels":"%d"}}]`, len(object.Metadata.Labels)))
}

package rules

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/storage"
)

// nobody is an address at which nobody answers.
const nobody = "https://127.0.0.1:1/"

// startTroubled starts a server whose audit backend takes no events, in which ann may send one request at once, and
// whose webhooks can't be called.
func startTroubled(t *testing.T, store storage.Backend, memory int64) *served {
	t.Helper()
	kubeconfig := (&served{T: t}).file("webhook.yaml", "apiVersion: v1\nkind: Config\n"+
		"clusters: [{name: a, cluster: {server: '"+nobody+"'}}]\n"+
		"contexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a\n")
	s := start(t, store, memory, "--audit-webhook-config-file="+kubeconfig, "--audit-webhook-batch-buffer-size=1",
		"--audit-webhook-batch-max-size=1")
	const flow = "/apis/flowcontrol.apiserver.k8s.io/v1/"
	s.want(http.StatusCreated, http.MethodPost, flow+"prioritylevelconfigurations", `{"metadata":{"name":"ann"},
"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":1,"borrowingLimitPercent":0,
"limitResponse":{"type":"Reject"}}}}`, "")
	s.want(http.StatusCreated, http.MethodPost, flow+"flowschemas", `{"metadata":{"name":"ann"},"spec":{
"matchingPrecedence":5,"priorityLevelConfiguration":{"name":"ann"},"rules":[{"subjects":[{"kind":"User",
"user":{"name":"ann"}}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}]}}`, "")
	s.until("the schema is in force", func() bool {
		return strings.Contains(s.metrics(),
			"\napiserver_flowcontrol_dispatched_requests_total{flow_schema=\"ann\",priority_level=\"ann\"} ")
	})
	for name, policy := range map[string]string{"open": "Ignore", "closed": "Fail"} {
		s.want(http.StatusCreated, http.MethodPost,
			"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
			fmt.Sprintf(`{"metadata":{"name":%q},"webhooks":[{"name":"%s.example.com","failurePolicy":%q,
"clientConfig":{"url":%q},"sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"operations":["CREATE"],
"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`, name, name, policy, nobody), "")
	}
	s.until("a write fails with a webhook", func() bool {
		return s.createConfigMap() == http.StatusInternalServerError
	})
	return s
}

// troubles makes each of the troubles below once.
func (s *served) troubles() {
	s.Helper()
	s.rejected()
	s.undecided()
	s.failingWebhooks()
	s.aggregatedDown()
}

// rejections is how many requests of ann are rejected between two scrapes: four in a second.
const rejections = 120

// rejected has requests of ann rejected because another one of hers has the only seat.
func (s *served) rejected() {
	s.Helper()
	ended := make(chan struct{})
	go func() { defer close(ended); s.send(http.MethodGet, "/slow", "", "ann") }()
	<-s.entered
	for range rejections {
		s.want(http.StatusTooManyRequests, http.MethodGet, "/version", "", "ann")
	}
	s.leave <- struct{}{}
	<-ended
}

// undecided has reads and writes fail because the server can't find out whether the user may send them.
func (s *served) undecided() {
	s.Helper()
	for range 20 {
		s.want(http.StatusInternalServerError, http.MethodGet, secrets, "", "unsure")
		s.want(http.StatusInternalServerError, http.MethodPost, secrets, `{"metadata":{"name":"b"}}`, "unsure")
	}
}

// failingWebhooks has a write fail because of a webhook.
func (s *served) failingWebhooks() {
	s.Helper()
	if code := s.createConfigMap(); code != http.StatusInternalServerError {
		s.Fatalf("a write with a webhook that can't be called: %d", code)
	}
}

func (s *served) createConfigMap() int {
	s.Helper()
	const path = "/api/v1/namespaces/default/configmaps?dryRun=All"
	code, _ := s.send(http.MethodPost, path, `{"metadata":{"name":"a"}}`, "")
	return code
}

// shortOfMemory has a write refused that needs more memory than a server with a mebibyte has.
func (s *served) shortOfMemory() {
	s.Helper()
	body := fmt.Sprintf(`{"metadata":{"name":"large","annotations":{"a":%q}}}`, strings.Repeat("a", 200_000))
	s.want(http.StatusTooManyRequests, http.MethodPost, secrets, body, "bob")
}

// apiService is an APIService whose group this server serves by itself, before another server shall.
const apiService = "v1.down.example.com"

// aggregatedDown has an APIService be available, and then name a server that can't be reached.
func (s *served) aggregatedDown() {
	s.Helper()
	const services = "/apis/apiregistration.k8s.io/v1/apiservices"
	s.send(http.MethodPost, services, `{"metadata":{"name":"`+apiService+`"},"spec":{"group":"down.example.com",
"version":"v1","groupPriorityMinimum":1000,"versionPriority":15}}`, "") // which is there from the second time on
	change := func(spec string) {
		s.want(http.StatusOK, http.MethodPatch, services+"/"+apiService, `{"spec":`+spec+`}`, "")
	}
	change(`{"service":null,"insecureSkipTLSVerify":null}`)
	s.until("the APIService is available", func() bool {
		_, object := s.send(http.MethodGet, services+"/"+apiService, "", "")
		return strings.Contains(object, `"status":"True"`)
	})
	counted := func() string {
		_, rest, _ := strings.Cut(s.metrics(), "\naggregator_unavailable_apiservice_total{")
		count, _, _ := strings.Cut(rest, "\n")
		return count
	}
	before := counted()
	change(`{"service":{"namespace":"default","name":"nobody"},"insecureSkipTLSVerify":true}`)
	s.until("the APIService is unavailable", func() bool { return counted() != before })
}

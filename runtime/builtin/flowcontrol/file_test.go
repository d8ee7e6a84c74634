package flowcontrol_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/builtin/flowcontrol"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// unserved switches the group off.
func unserved(config *server.Config) {
	config.RuntimeConfig = map[string]string{"flowcontrol.apiserver.k8s.io/v1": "false"}
}

// annsLevel gives ann a level of one seat that rejects the rest, in two documents.
const annsLevel = `apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: ann, uid: uid-of-the-level}
spec:
  type: Limited
  limited: {nominalConcurrencyShares: 1, borrowingLimitPercent: 0, limitResponse: {type: Reject}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: ann, uid: uid-of-the-schema}
spec:
  priorityLevelConfiguration: {name: ann}
  rules:
  - subjects: [{kind: User, user: {name: ann}}]
    nonResourceRules: [{verbs: ["*"], nonResourceURLs: ["*"]}]
`

func writeObjects(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fairness.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFile: a server that doesn't serve the group is shared by the objects of a file, beside the mandatory ones.
func TestFile(t *testing.T) {
	b := startWith(t, unserved, "--flow-control-config-file="+writeObjects(t, annsLevel))
	if code := b.code("", "GET", schemas, ""); code != http.StatusNotFound {
		t.Errorf("the group: %d", code)
	}
	ended := make(chan int, 1)
	go func() { ended <- b.code("ann", "GET", "/slow", "") }()
	<-b.entered
	response, _ := b.do("ann", "GET", "/version", "")
	if response.StatusCode != http.StatusTooManyRequests ||
		response.Header.Get("X-Kubernetes-PF-FlowSchema-UID") != "uid-of-the-schema" ||
		response.Header.Get("X-Kubernetes-PF-PriorityLevel-UID") != "uid-of-the-level" {
		t.Errorf("%s %v", response.Status, response.Header)
	}
	if code := b.code("bob", "GET", "/version", ""); code != http.StatusOK {
		t.Errorf("another user: %d", code)
	}
	close(b.slow)
	if code := <-ended; code != http.StatusOK {
		t.Errorf("the slow request: %d", code)
	}
	metrics := b.must("GET", "/metrics", "")
	const limits = `apiserver_flowcontrol_nominal_limit_seats{priority_level="`
	for level, want := range map[string]bool{"ann": true, "exempt": true, "catch-all": true, "global-default": false} {
		if strings.Contains(metrics, limits+level+`"}`) != want {
			t.Errorf("the level %s is there: %t, want %t", level, !want, want)
		}
	}
}

// TestRefusedFiles: a server whose file contradicts its configuration or itself doesn't start, and says why.
func TestRefusedFiles(t *testing.T) {
	list := "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(annsLevel[:strings.Index(annsLevel, "---")],
		"\n", "\n  ")
	for name, test := range map[string]struct {
		text   string
		served bool
		flags  []string
		want   string
	}{
		"a served group":  {text: annsLevel, served: true, want: "--runtime-config=flowcontrol"},
		"fairness is off": {flags: []string{"--enable-priority-and-fairness=false"}, want: "goes with"},
		"another kind":    {text: "apiVersion: v1\nkind: Pod\n", want: `"Pod" of "v1" is neither`},
		"another version": {text: strings.Replace(annsLevel, "io/v1\n", "io/v1beta3\n", 1), want: "v1beta3"},
		"a typo":          {text: strings.Replace(annsLevel, "limitResponse", "limitAnswer", 1), want: `"limitAnswer"`},
		"no name":         {text: strings.Replace(annsLevel, "name: ann, ", "", 1), want: "no metadata.name"},
		"a name twice":    {text: annsLevel + "---\n" + list, want: `the name "ann"`},
		"no level":        {text: annsLevel[strings.Index(annsLevel, "---"):], want: `the level "ann"`},
		"no seats": {text: strings.Replace(annsLevel, "Shares: 1", "Shares: -1", 1),
			want: "spec.limited.nominalConcurrencyShares"},
		"a mandatory schema": {text: strings.ReplaceAll(annsLevel, "name: ann, uid: uid-of-the-schema",
			"name: catch-all"), want: "must equal the fixed value"},
	} {
		t.Run(name, func(t *testing.T) {
			feature, flags := new(flowcontrol.Feature), pflag.NewFlagSet("", pflag.ContinueOnError)
			feature.AddFlags(flags)
			err := flags.Parse(append(test.flags, "--flow-control-config-file="+writeObjects(t, test.text)))
			if err != nil {
				t.Fatal(err)
			}
			config := &server.Config{Groups: feature.Groups()}
			if !test.served {
				unserved(config)
			}
			err = config.Use(t.Context(), feature)
			if err == nil || !strings.Contains(err.Error(), test.want) ||
				!strings.Contains(err.Error(), "--flow-control-config-file") {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

// TestFileOfAnother: a server that has no resources of the group may have a file, with a List as kubectl writes it.
func TestFileOfAnother(t *testing.T) {
	feature, flags := new(flowcontrol.Feature), pflag.NewFlagSet("", pflag.ContinueOnError)
	feature.AddFlags(flags)
	list := `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"flowcontrol.apiserver.k8s.io/v1",
"kind":"FlowSchema","metadata":{"name":"all","creationTimestamp":null},
"spec":{"priorityLevelConfiguration":{"name":"exempt"}}}]}`
	if err := flags.Parse([]string{"--flow-control-config-file=" + writeObjects(t, list)}); err != nil {
		t.Fatal(err)
	}
	config := &server.Config{Groups: []registry.Group{{Name: "shop.example.com"}}}
	if err := config.Use(t.Context(), feature); err != nil || config.Fairness == nil {
		t.Errorf("%v", err)
	}
}

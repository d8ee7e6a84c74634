package recorded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// peer is a server that writes are sent to.
type peer struct {
	url, token string
	client     *http.Client
}

// accept asks for a table.
const accept = "application/json;as=Table;v=v1;g=meta.k8s.io"

// table returns the columns of a kind, each with its priority if that isn't 0, and the row of the stored object.
func (p *peer) table(t *testing.T, s *script) string {
	t.Helper()
	code, answer, err := p.send(t.Context(), http.MethodGet, s.path, accept, "")
	var table metav1.Table
	if err := errors.Join(err, json.Unmarshal(answer, &table)); err != nil || code != http.StatusOK {
		t.Fatalf("%s: %d %s %v", s.path, code, answer, err)
	}
	var columns, cells []string
	for _, column := range table.ColumnDefinitions {
		columns = append(columns, strings.TrimSuffix(fmt.Sprintf("%s/%d", column.Name, column.Priority), "/0"))
	}
	for _, row := range table.Rows {
		name, _, _ := strings.Cut(fmt.Sprint(row.Cells[0]), " ")
		if name != storedName(t, s) {
			continue
		}
		for _, cell := range row.Cells[:len(columns)] {
			cells = append(cells, agePattern.ReplaceAllString(fmt.Sprint(cell), "<age>"))
		}
	}
	shown := createdPattern.ReplaceAllString(tidy(strings.Join(cells, " | ")), "<time>")
	shown = chosenPattern.ReplaceAllString(shown, "<chosen>")
	return "= 200 " + strings.Join(columns, " | ") + "\n  " + shown + "\n"
}

var (
	createdPattern = regexp.MustCompile(`20[0-9-]{8}T[0-9:]{8}Z`)
	agePattern     = regexp.MustCompile(`^\d+(s|m|m\d+s)$`)
	chosenPattern  = regexp.MustCompile(`ClusterIP \| 10\.0\.0\.\d+`)
)

// send sends JSON, and returns the answer. For a read, contentType is the format of the answer.
func (p *peer) send(ctx context.Context, method, path, contentType, body string) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, p.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", contentType)
	if method == http.MethodGet {
		request.Header.Set("Accept", contentType)
	}
	if p.token != "" {
		request.Header.Set("Authorization", "Bearer "+p.token)
	}
	response, err := p.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return response.StatusCode, data, err
}

// stored is the name of the object that updates change.
const stored = "stored"

// prepare creates the object that the updates of a script change.
func (p *peer) prepare(t *testing.T, s *script) {
	t.Helper()
	body := merge(t, s.base, `{"metadata":{"name":"`+storedName(t, s)+`"}}`)
	code, answer, err := p.send(t.Context(), http.MethodPost, s.path, "application/json", body)
	if err != nil || code != http.StatusCreated && code != http.StatusConflict {
		t.Fatalf("%s: %d %s %v", s.file, code, answer, err)
	}
}

// storedName is stored, unless the kind has names of another form.
func storedName(t *testing.T, s *script) string {
	t.Helper()
	if strings.HasSuffix(s.path, "/ipaddresses") {
		return "10.0.0.99"
	}
	return stored
}

// ask sends a write, and returns the answer as a script has it.
func (p *peer) ask(t *testing.T, s *script, w *write) string {
	t.Helper()
	if w.verb == "table" {
		return p.table(t, s)
	}
	method, path, contentType, body := http.MethodPost, s.path, "application/json", s.base
	if w.verb == "update" {
		method, path, contentType = http.MethodPatch, s.path+"/"+storedName(t, s), "application/merge-patch+json"
		body = w.patch
	} else if w.patch != "" {
		body = merge(t, s.base, w.patch)
	}
	if w.sub != "" {
		path += "/" + w.sub
	}
	code, answer, err := p.send(t.Context(), method, path+"?dryRun=All", contentType, body)
	if err != nil {
		t.Fatal(err)
	}
	return render(t, code, answer, body)
}

func merge(t *testing.T, object, patch string) string {
	t.Helper()
	merged, err := jsonpatch.MergePatch([]byte(object), []byte(patch))
	if err != nil {
		t.Fatalf("%s: %v", patch, err)
	}
	return string(merged)
}

// status has what matters of a metav1.Status.
type status struct {
	Kind, Reason, Message string
	Details               struct {
		Causes []struct{ Reason, Message, Field string }
	}
}

// render is an answer as a script has it. Causes are sorted: where kube-apiserver goes through a map, their order
// differs from answer to answer.
func render(t *testing.T, code int, answer []byte, sent string) string {
	t.Helper()
	var of status
	if err := json.Unmarshal(answer, &of); err != nil {
		t.Fatalf("%d %.300s: %v", code, answer, err)
	}
	if code < http.StatusBadRequest {
		return fmt.Sprintf("= %d %s\n", code, object(t, answer, sent))
	}
	head := fmt.Sprintf("= %d %s\n", code, of.Reason)
	if len(of.Details.Causes) == 0 {
		return head + "  " + tidy(of.Message) + "\n"
	}
	var causes []string
	for _, c := range of.Details.Causes {
		causes = append(causes, fmt.Sprintf("  %s %s: %s\n", c.Reason, c.Field, tidy(c.Message)))
	}
	slices.Sort(causes)
	return head + strings.Join(slices.Compact(causes), "")
}

var uidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// tidy cuts a message where a difference of two Go values begins, whose types have other names in kube-apiserver.
func tidy(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	return uidPattern.ReplaceAllString(message, "<uid>")
}

// object is an object without what differs from server to server, and from run to run.
func object(t *testing.T, answer []byte, sent string) string {
	t.Helper()
	var of map[string]any
	if err := json.Unmarshal(answer, &of); err != nil {
		t.Fatal(err)
	}
	if meta, ok := of["metadata"].(map[string]any); ok {
		for _, name := range []string{"uid", "creationTimestamp", "resourceVersion", "managedFields"} {
			delete(meta, name)
		}
	}
	if spec, ok := of["spec"].(map[string]any); ok && of["kind"] == "Service" {
		hideAllocated(spec, sent)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(of); err != nil {
		t.Fatal(err)
	}
	text := timePattern.ReplaceAllString(strings.TrimSpace(b.String()), `"<time>"`)
	return uidPattern.ReplaceAllString(text, "<uid>")
}

var timePattern = regexp.MustCompile(`"20[0-9-]{8}T[0-9:]{8}Z"`)

// hideAllocated replaces addresses and ports that a server chose.
func hideAllocated(spec map[string]any, sent string) {
	if ip, ok := spec["clusterIP"].(string); ok && !strings.Contains(sent, `"`+ip+`"`) {
		spec["clusterIP"], spec["clusterIPs"] = "<chosen>", []any{"<chosen>"}
	}
	ports, _ := spec["ports"].([]any)
	for _, item := range ports {
		if port, ok := item.(map[string]any); ok && port["nodePort"] != nil &&
			!strings.Contains(sent, fmt.Sprint(port["nodePort"])) {
			port["nodePort"] = "<chosen>"
		}
	}
	if spec["healthCheckNodePort"] != nil {
		spec["healthCheckNodePort"] = "<chosen>"
	}
}

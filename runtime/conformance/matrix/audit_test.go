package matrix

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// record is an event of audit, as the log has it.
type record struct {
	Level, AuditID, Stage, RequestURI, Verb, UserAgent string
	User                                               auditUser
	ImpersonatedUser                                   *auditUser
	SourceIPs                                          []string
	ObjectRef                                          map[string]string
	ResponseStatus                                     *struct {
		Code                    int
		Status, Reason, Message string
	}
	Annotations            map[string]string
	AuthenticationMetadata map[string]string
}

type auditUser struct {
	Username, UID string
	Groups        []string
	Extra         map[string][]string
}

func (u auditUser) String() string {
	text := fmt.Sprintf("%q", tidy(u.Username))
	if u.UID != "" {
		text += "(" + tidy(u.UID) + ")"
	}
	text += "[" + strings.Join(u.Groups, ",") + "]"
	if len(u.Extra) > 0 {
		text += tidy(compact(u.Extra))
	}
	return text
}

// latencyPrefix begins the annotations of requests that kube-apiserver found slow.
const latencyPrefix = "apiserver.latency.k8s.io/"

// rowPrefix begins the ids of the tables' requests.
const rowPrefix = "row-"

// readRecords returns the records of a log, by the ids of the tables' requests.
func readRecords(path string) (map[string][]record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	records := map[string][]record{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, lines.Text(), err)
		}
		if strings.HasPrefix(r.AuditID, rowPrefix) { // the server asks itself, too
			records[r.AuditID] = append(records[r.AuditID], r)
		}
	}
	return records, lines.Err()
}

// line is a record as a table holds it, without what the answer says already: target is what was asked for, and
// answer is the line of the answer.
func (r record) line(target, answer string) string {
	parts := []string{"audit", r.Stage, r.Verb}
	if r.Level != "Metadata" {
		parts = append(parts, "level="+r.Level)
	}
	if uri := tidy(r.RequestURI); uri != tidy(target) {
		parts = append(parts, "uri="+uri)
	}
	parts = append(parts, "by", r.User.String())
	if r.ImpersonatedUser != nil {
		parts = append(parts, "as", r.ImpersonatedUser.String())
	}
	if len(r.ObjectRef) > 0 {
		delete(r.ObjectRef, "resourceVersion") // depends on what else was written
		parts = append(parts, "of "+tidy(pairs(r.ObjectRef)))
	}
	if len(r.SourceIPs) != 1 || r.SourceIPs[0] != "127.0.0.1" {
		parts = append(parts, "from "+strings.Join(r.SourceIPs, ","))
	}
	if r.UserAgent != "" {
		parts = append(parts, fmt.Sprintf("agent=%q", r.UserAgent))
	}
	if s := r.ResponseStatus; s != nil {
		parts = append(parts, "->", strings.TrimSpace(fmt.Sprintf("%d %s", s.Code, s.Reason)))
		if s.Message != "" && !strings.HasSuffix(answer, tidy(s.Message)) {
			parts = append(parts, fmt.Sprintf("%q", tidy(s.Message)))
		}
	}
	decision, reason := r.Annotations["authorization.k8s.io/decision"], r.Annotations["authorization.k8s.io/reason"]
	delete(r.Annotations, "authorization.k8s.io/decision")
	delete(r.Annotations, "authorization.k8s.io/reason")
	maps.DeleteFunc(r.Annotations, func(key, _ string) bool { return strings.HasPrefix(key, latencyPrefix) })
	if decision != "" {
		parts = append(parts, fmt.Sprintf("%s(%s)", decision, tidy(reason)))
	}
	for _, more := range []map[string]string{r.Annotations, r.AuthenticationMetadata} {
		if len(more) > 0 {
			parts = append(parts, tidy(pairs(more)))
		}
	}
	return strings.Join(parts, " ")
}

func pairs(of map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(of)) {
		all = append(all, key+"="+of[key])
	}
	return strings.Join(all, " ")
}

// auditLines are the records of a row's requests, as a table holds them.
func auditLines(records []record, q *question, words map[string]string, answer []string) []string {
	var lines []string
	_, target, _ := strings.Cut(fillIn(q.request[0], words), " ")
	for _, r := range records {
		lines = append(lines, r.line(target, strings.Join(answer, "\n")))
	}
	if len(lines) == 0 {
		lines = []string{"no audit"}
	}
	return lines
}

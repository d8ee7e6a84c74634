package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// namesFile holds names, and kube-apiserver's verdicts on them.
const namesFile = "testdata/names.txt"

// nameTable is namesFile: the names in question, and a section for each set of kinds that judge them alike.
type nameTable struct {
	head     []string
	names    []string
	sections []*nameSection
}

// nameSection holds kinds, and their verdict on each name of the table.
type nameSection struct {
	kinds    []string
	verdicts map[string]string
}

// namedKind is a kind whose names are judged.
type namedKind struct {
	root, apiVersion, kind, plural string
	namespaced                     bool
}

func (k namedKind) String() string { return k.apiVersion + " " + k.kind }

const acceptedName = "accepted"

// readNames reads the table. "ask" lines are the names in question. A section has its kinds, and its verdicts, each
// with the names that have it in the lines below, separated by two blanks.
func readNames(t *testing.T) *nameTable {
	t.Helper()
	data, err := os.ReadFile(namesFile)
	if err != nil {
		t.Fatal(err)
	}
	table, section, verdict := &nameTable{}, (*nameSection)(nil), ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, "#"):
			table.head = append(table.head, line)
		case line == "":
			section = nil
		case word == "ask":
			table.names = append(table.names, splitNames(rest)...)
		case word == "kind":
			if section == nil {
				section = &nameSection{verdicts: map[string]string{}}
				table.sections = append(table.sections, section)
			}
			section.kinds = append(section.kinds, rest)
		case strings.HasPrefix(line, " "):
			for _, name := range splitNames(line) {
				section.verdicts[name] = verdict
			}
		default:
			verdict = line
		}
	}
	return table
}

func splitNames(line string) []string { return strings.Split(strings.TrimSpace(line), "  ") }

// text prints the verdicts in the order in which names first have them.
func (s *nameSection) text(names []string) string {
	var b strings.Builder
	var seen []string
	for _, name := range names {
		verdict := s.verdicts[name]
		if slices.Contains(seen, verdict) {
			continue
		}
		seen = append(seen, verdict)
		alike := slices.DeleteFunc(slices.Clone(names), func(other string) bool { return s.verdicts[other] != verdict })
		b.WriteString(verdict + "\n")
		for line := range slices.Chunk(alike, 12) {
			b.WriteString("  " + strings.Join(line, "  ") + "\n")
		}
	}
	return b.String()
}

// named are kinds of ours by the built-in kinds whose names have the same rule. The first kind of each section of the
// table stands for all of them.
var named = map[string]namedKind{
	"admissionregistration.k8s.io/v1 MutatingAdmissionPolicy": ourKind("LongNamed"),
	"apiextensions.k8s.io/v1 CustomResourceDefinition":        ourKind("PluralNamed"),
	"apiregistration.k8s.io/v1 APIService":                    ourKind("VersionNamed"),
	"apps/v1 StatefulSet":                                     ourKind("ShortNamed"),
	"authentication.k8s.io/v1 SelfSubjectReview":              ourKind("Review"),
	"authorization.k8s.io/v1 LocalSubjectAccessReview":        ourKind("LocalReview"),
	"authorization.k8s.io/v1 SelfSubjectAccessReview":         ourKind("NamelessReview"),
	"batch/v1 CronJob":                                        ourKind("CronNamed"),
	"certificates.k8s.io/v1 CertificateSigningRequest":        ourKind("AnyNamed"),
	"networking.k8s.io/v1 IPAddress":                          ourKind("IPNamed"),
	"rbac.authorization.k8s.io/v1 ClusterRole":                ourKind("PathNamed"),
	"resource.k8s.io/v1 DeviceClass":                          ourKind("DeclaredNamed"),
}

// differs are the names on which a kind of ours has another verdict than the built-in kinds, and why.
var differs = map[string]string{
	"IPNamed generate fe80::": "kube-apiserver takes the prefix for the address, and ours always appends a suffix",
}

// TestNames: for each built-in kind, a kind of ours with a marker or a function has the same verdict on each name, in
// the same words.
func TestNames(t *testing.T) {
	ours, _ := startBuiltin(t)
	table := readNames(t)
	for _, section := range table.sections {
		kind, known := named[section.kinds[0]]
		if !known {
			t.Errorf("no kind of ours is named as %v are", section.kinds)
			continue
		}
		t.Run(kind.kind, func(t *testing.T) {
			t.Parallel()
			got := table.askAll(t, ours, kind)
			for _, name := range table.names {
				want := section.verdicts[name]
				if why := differs[kind.kind+" "+name]; (got.verdicts[name] != want) == (why == "") {
					t.Errorf("%s:\n%s, want\n%s %s", name, got.verdicts[name], want, why)
				}
			}
		})
	}
}

// TestNamesOfBuiltinKinds: kinds of k8s.io/api that are marked from outside have the verdicts of kube-apiserver's.
func TestNamesOfBuiltinKinds(t *testing.T) {
	ours, _ := startBuiltin(t)
	table := readNames(t)
	for _, kind := range []namedKind{
		{root: "/api/v1", apiVersion: "v1", kind: "Namespace", plural: "namespaces"},
		{root: "/apis/rbac.authorization.k8s.io/v1", apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole",
			plural: "clusterroles"},
	} {
		i := slices.IndexFunc(table.sections, func(s *nameSection) bool {
			return slices.Contains(s.kinds, kind.String())
		})
		got := table.askAll(t, ours, kind)
		if want := table.sections[i].text(table.names); got.text(table.names) != want {
			t.Errorf("%s:\n%s", kind, difference(want, got.text(table.names)))
		}
	}
}

func ourKind(kind string) namedKind {
	return namedKind{root: "/apis/naming.example.com/v1", apiVersion: "naming.example.com/v1", kind: kind,
		plural: strings.ToLower(kind) + "s", namespaced: true}
}

// askAll returns a server's verdicts on all names, for a kind.
func (n *nameTable) askAll(t *testing.T, w *world, kind namedKind) *nameSection {
	t.Helper()
	out := &nameSection{kinds: []string{kind.String()}, verdicts: map[string]string{}}
	for _, line := range n.names {
		out.verdicts[line] = w.judge(t, kind, line)
	}
	return out
}

var repeatPattern = regexp.MustCompile(`^(.)\*(\d+)$`)

// judge creates an object in a dry run, and returns what the server says of its name. The line is a name, or the prefix
// of one with "generate" in front; a*64 is 64 times a.
func (w *world) judge(t *testing.T, kind namedKind, line string) string {
	t.Helper()
	field, name := "name", line
	if prefix, ok := strings.CutPrefix(line, "generate "); ok {
		field, name = "generateName", prefix
	}
	if m := repeatPattern.FindStringSubmatch(name); m != nil {
		count, _ := strconv.Atoi(m[2])
		name = strings.Repeat(m[1], count)
	}
	object := map[string]any{"apiVersion": kind.apiVersion, "kind": kind.kind, "metadata": map[string]any{field: name}}
	for key, value := range needed[kind.kind] {
		object[key] = value
	}
	body, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	path := kind.root + "/" + kind.plural
	if kind.namespaced {
		path = kind.root + "/namespaces/default/" + kind.plural
	}
	code, answer := w.send(t, http.MethodPost, path+"?dryRun=All", body)
	return verdict(code, answer)
}

// needed are the fields without which kube-apiserver refuses an object before it judges its name.
var needed = map[string]map[string]any{
	"TokenReview":               {"spec": map[string]any{"token": "t"}},
	"SubjectAccessReview":       {"spec": anyAccess},
	"SelfSubjectAccessReview":   {"spec": anyAccess},
	"LocalSubjectAccessReview":  {"spec": anyAccess},
	"SelfSubjectRulesReview":    {"spec": map[string]any{"namespace": "default"}},
	"CertificateSigningRequest": {"spec": signing},
}

var anyAccess = map[string]any{
	"user": "u", "resourceAttributes": map[string]any{"namespace": "default", "verb": "get", "resource": "pods"},
}

// signing is what a CertificateSigningRequest needs; the recorder adds a request.
var signing = map[string]any{"signerName": "example.com/signer", "usages": []string{"client auth"}}

var valuePattern = regexp.MustCompile(
	`(?s)^(?:Invalid value|Required value|Too long|Forbidden)(?:: (?:"(?:[^"\\]|\\.)*"|\{.*\}))?(?:: )?(.*)$`)

// verdict is what an answer says of the name: the sorted messages of the causes that are about it.
func verdict(code int, answer []byte) string {
	var status metav1.Status
	if code < 300 {
		return acceptedName
	}
	if err := json.Unmarshal(answer, &status); err != nil || code != http.StatusUnprocessableEntity {
		return fmt.Sprintf("%d: %s", code, status.Message)
	}
	var messages []string
	for _, cause := range status.Details.Causes {
		if cause.Field == "metadata" || cause.Field == "metadata.name" || cause.Field == "metadata.generateName" {
			messages = append(messages, strings.TrimPrefix(cause.Field, "metadata.")+": "+
				valuePattern.ReplaceAllString(cause.Message, "$1"))
		}
	}
	if len(messages) == 0 {
		return acceptedName
	}
	slices.Sort(messages)
	return strings.Join(messages, " | ")
}

// send sends a request, and returns the answer's code and body.
func (w *world) send(t *testing.T, method, path string, body []byte) (int, []byte) {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: w.tls}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), method, "https://"+w.host+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

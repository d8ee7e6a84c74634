package matrix

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// bypassPatience is how long an answer may take: a watch doesn't end.
const bypassPatience = 250 * time.Millisecond

// FuzzBypass sends spellings of requests, with the rights of a user who reads the config maps of one namespace, and
// with those of nobody. What is answered 2xx must be what they may read; a secret that only this process knows is in no
// answer, and nothing is ever written.
func FuzzBypass(f *testing.F) {
	w := newWorld("closed")
	w.hideTokens(f)
	startOurs(f, w)
	secret := rand.Text()
	w.make(f, []byte(`{apiVersion: v1, kind: Secret, metadata: {name: hidden, namespace: red}, `+
		`stringData: {a: `+secret+`}}`))
	hidden := []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))}
	for i, seed := range w.seeds(f) {
		f.Add(seed, i%2 == 1)
	}
	before := w.revision(f)
	f.Fuzz(func(t *testing.T, text string, second bool) {
		m, ok := fuzzed(text)
		if !ok {
			return
		}
		a, all := w.try(t, m, second)
		for _, value := range hidden {
			if bytes.Contains(all, []byte(value)) {
				t.Fatalf("%q reads the secret:\n%s", text, all)
			}
		}
		if a.code >= 200 && a.code < 300 {
			if wrong := forbiddenAnswer(a); wrong != "" {
				t.Errorf("%q is answered %d: %s", text, a.code, wrong)
			}
		}
		if now := w.revision(t); now != before {
			before = now
			t.Errorf("%q has written something: %d %s", text, a.code, a.body)
		}
	})
}

// hideTokens gives new tokens to everybody but the reader and the guest.
func (w *world) hideTokens(t testing.TB) {
	t.Helper()
	w.admin = rand.Text()
	w.tokens = write(t, t.TempDir(), "tokens.csv", []byte(
		w.admin+`,admin,1,"system:masters"`+"\nreader-token,reader,2\nguest-token,guest,3\n"))
}

// seeds are some of the questions of the tables, with the credentials of the reader.
func (w *world) seeds(t testing.TB) (all []string) {
	t.Helper()
	for _, f := range tables(t, w.name) {
		for i, q := range f.questions {
			m, err := newMessage(q, nobody, w.words)
			if err != nil || m.raw != "" || len(m.target) > 1000 || i%4 != 0 {
				continue
			}
			lines := append([]string{m.method + " " + m.target, "Authorization: Bearer reader-token"}, m.headers...)
			all = append(all, strings.Join(lines, "\n")+"\n\n"+m.body)
		}
	}
	return all
}

// fuzzed reads a request: method and target, headers, body.
func fuzzed(text string) (message, bool) {
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	m := message{version: "1.1", answers: 1, body: body}
	m.method, m.target, _ = strings.Cut(lines[0], " ")
	for _, line := range lines[1:] {
		if line != "" {
			m.headers = append(m.headers, line)
		}
	}
	return m, len(text) < 16<<10 && m.method != ""
}

// try sends m, and returns the first answer, and everything that came within bypassPatience.
func (w *world) try(t testing.TB, m message, second bool) (answer, []byte) {
	t.Helper()
	config := w.tls.Clone()
	if second {
		config.NextProtos = []string{http2.NextProtoTLS}
	}
	connection, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", w.host, config)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(bypassPatience)); err != nil {
		t.Fatal(err)
	}
	if second {
		a, _ := exchangeFrames(connection, m, w.host, "fuzz")
		return a, append([]byte(fmt.Sprint(a.header)), a.body...)
	}
	go func() { _, _ = io.WriteString(connection, m.text(w.host, "fuzz")) }()
	all, _ := io.ReadAll(connection) // until the deadline, for a watch
	return parseAnswer(m.method, all), all
}

// parseAnswer reads the first answer, as far as it came.
func parseAnswer(method string, all []byte) answer {
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(all)), &http.Request{Method: method})
	if err != nil {
		return answer{failure: err.Error()}
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return answer{code: response.StatusCode, header: response.Header, body: body}
}

func (w *world) revision(t testing.TB) int64 {
	t.Helper()
	revision, err := w.backend.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// publicKinds are the kinds of documents and reviews that every authenticated user gets.
var publicKinds = []string{
	"APIVersions", "APIGroupList", "APIGroup", "APIResourceList", "APIGroupDiscoveryList",
	"SelfSubjectAccessReview", "SelfSubjectRulesReview", "SelfSubjectReview",
}

// readable are the kinds in which config maps come.
var readable = []string{
	"ConfigMap", "ConfigMapList", "Table", "PartialObjectMetadata", "PartialObjectMetadataList",
}

// forbiddenAnswer says what in an answer the reader must not get; "" is nothing.
func forbiddenAnswer(a answer) string {
	if bytes.Contains(a.body, []byte(`"namespace":"blue"`)) {
		return "it has objects of another namespace"
	}
	for line := range bytes.Lines(bytes.TrimSpace(a.body)) {
		var o object
		if json.Unmarshal(line, &o) != nil {
			return "" // a text, or the beginning of a document: the secret is not in it
		}
		if o.Object != nil {
			o = *o.Object
		}
		if o.Kind == "" || slices.Contains(publicKinds, o.Kind) {
			continue // a document
		}
		if !slices.Contains(readable, o.Kind) || o.Metadata.Namespace == "blue" {
			return fmt.Sprintf("%.300s", line)
		}
	}
	return ""
}

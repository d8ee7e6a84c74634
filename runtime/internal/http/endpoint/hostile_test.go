package endpoint_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hostile is a request that means no good, and what a server may answer to it: testdata/http-cases.json.
type hostile struct {
	ID, Class, Why string
	Method         string
	Path           text
	Body           text
	Type           string
	Header         [][2]string
	// Raw is sent to the connection as it is, instead of all the above.
	Raw text
	// Want is kube-apiserver's answer, Accept are others that will do.
	Want   outcome
	Accept []outcome
	// Has and HasNot are looked for in the answer's body; Gone is the name of an object that must not exist then.
	Has, HasNot []string
	Gone        string
	MaxMs       int
	// Responses is how many requests net/http sees in Raw: 0 is one.
	Responses int
}

type outcome struct {
	Code   int
	Reason metav1.StatusReason
}

// text is a string, or a list of texts and repetitions of texts.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		return json.Unmarshal(data, (*string)(t))
	case '[':
		var parts []text
		err := json.Unmarshal(data, &parts)
		for _, part := range parts {
			*t += part
		}
		return err
	}
	var repeated struct {
		N      int
		Repeat text
	}
	err := json.Unmarshal(data, &repeated)
	*t = text(strings.Repeat(string(repeated.Repeat), repeated.N))
	return err
}

func hostileCases(t *testing.T) []hostile {
	t.Helper()
	data, err := os.ReadFile("testdata/http-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []hostile
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// serverOnly are cases that other parts of a server answer, and what for.
var serverOnly = map[string]string{
	"expect-unknown": "net/http answers it",
}

// TestHostileRequests sends every case to a server that holds one object, over a real connection.
func TestHostileRequests(t *testing.T) {
	for _, c := range hostileCases(t) {
		t.Run(c.Class+"/"+c.ID, func(t *testing.T) {
			target := newTarget(t)
			began := time.Now()
			code, body := target.send(t, c)
			if took := time.Since(began); c.MaxMs > 0 && took > time.Duration(c.MaxMs)*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			if !c.accepts(code, body) {
				t.Errorf("%s: %d %.500s", c.Why, code, body)
			}
			if code >= 400 && c.Raw == "" && !c.outsider() {
				checkStatus(t, code, body)
			}
			for _, s := range c.Has {
				if !strings.Contains(body, target.fill(s)) {
					t.Errorf("%q is missing in %.500s", s, body)
				}
			}
			for _, s := range append(c.HasNot, ".go:", "goroutine ") {
				if strings.Contains(body, target.fill(s)) {
					t.Errorf("%q is in %.500s", s, body)
				}
			}
			if c.Gone != "" && target.exists(t, target.fill(c.Gone)) {
				t.Errorf("%s exists", c.Gone)
			}
			if c.Want.Code >= 400 && c.Responses < 2 && !target.exists(t, target.name) {
				t.Error("the object is gone")
			}
		})
	}
}

// outsider tells answers that net/http gives before a handler is asked.
func (c *hostile) outsider() bool { return serverOnly[c.ID] != "" || c.ID == "bad-escape" }

func (c *hostile) accepts(code int, body string) bool {
	var status metav1.Status
	_ = json.Unmarshal([]byte(body), &status) // what is not a Status has no reason
	return slices.ContainsFunc(append(c.Accept, c.Want), func(o outcome) bool {
		return o.Code == code && (o.Reason == "" || o.Reason == status.Reason)
	})
}

func checkStatus(t *testing.T, code int, body string) {
	t.Helper()
	var status metav1.Status
	if err := json.Unmarshal([]byte(body), &status); err != nil || status.Kind != "Status" ||
		int(status.Code) != code || status.Message == "" {
		t.Errorf("no proper Status: %d %.500s", code, body)
	}
}

// fill puts the target's names into a case.
func (g *target) fill(s string) string {
	return strings.NewReplacer(
		"{base}", g.base, "{item}", g.base+"/"+g.name, "{name}", g.name, "{ns}", "default", "{api}",
		"shop.example.com/v1",
		"{kind}", "Widget", "{spec}", `"spec":{"color":"red"}`, "{host}", g.host, "{auth}", "X-Nobody: 1",
	).Replace(s)
}

func (g *target) send(t *testing.T, c hostile) (int, string) {
	t.Helper()
	raw := g.fill(string(c.Raw))
	if raw == "" {
		raw = g.plain(c)
	}
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", g.host)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	// The server may answer, and close, before it has read everything.
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(connection, raw)
	}()
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: c.Method})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error("the answer has no end:", err)
	}
	connection.Close()
	<-sent
	return response.StatusCode, string(body)
}

// plain is a request as a client would write it, without what clients check.
func (g *target) plain(c hostile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", c.Method, g.fill(string(c.Path)), g.host)
	for _, h := range c.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	body := g.fill(string(c.Body))
	if c.Type == "" && body != "" {
		c.Type = "application/json"
	}
	if c.Type != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", c.Type)
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	return b.String() + "\r\n" + body
}

package exchange

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// world is a server that requests are sent to, by an administrator.
type world struct {
	host  string
	tls   *tls.Config
	token string
	// client sends what net/http can express over HTTP/2, where it is set.
	client *http.Client
	// hook is a webhook for its admission, where scripts need one.
	hook *hook
}

// asked is one scene on one server, with what its last answer told.
type asked struct {
	*testing.T
	*world
	*normal
	words map[string]string
	// expects is how many answers to a request in bytes are waited for; more may come.
	expects int
	// wants reports whether answers are those that a request with @until is repeated for; nil leaves that to the code
	// and the text of @until.
	wants func(answers []string) bool
}

func (w *world) enter(t *testing.T, s *scene) *asked {
	a := &asked{T: t, world: w, normal: newNormal(), words: map[string]string{
		"$NS": s.name, "$HOST": w.host, "$AUTH": "Authorization: Bearer " + w.token,
		"$PDBS":       "/apis/policy/v1/namespaces/" + s.name + "/poddisruptionbudgets",
		"$PDB":        `"apiVersion":"policy/v1","kind":"PodDisruptionBudget"`,
		"$SPEC":       `"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"a"}}}`,
		"$CLASSES":    "/apis/networking.k8s.io/v1/ingressclasses",
		"$CLASS":      `"apiVersion":"networking.k8s.io/v1","kind":"IngressClass"`,
		"$WIDGETS":    "/apis/shop.example.com/v1/namespaces/" + s.name + "/widgets",
		"$MAPS":       "/api/v1/namespaces/" + s.name + "/configmaps",
		"$MAP":        `"apiVersion":"v1","kind":"ConfigMap"`,
		"$EVENTS":     "/api/v1/namespaces/" + s.name + "/events",
		"$EVENT":      `"apiVersion":"v1","kind":"Event"`,
		"$NOTES":      "/apis/events.k8s.io/v1/namespaces/" + s.name + "/events",
		"$NOTE":       `"apiVersion":"events.k8s.io/v1","kind":"Event"`,
		"$OLDWIDGETS": "/apis/shop.example.com/v1beta1/namespaces/" + s.name + "/widgets",
		"$WIDGET":     `"apiVersion":"shop.example.com/v1","kind":"Widget"`,
	}}
	if w.hook != nil {
		a.words["$HOOK"], a.words["$CABUNDLE"] = w.hook.url, w.hook.bundle
		a.normal.hide = map[string]string{w.hook.url: "<hook>", w.hook.bundle: "<bundle>"}
	}
	for _, line := range s.given {
		a.give(line)
	}
	return a
}

// standard are the objects that scenes find.
var standard = map[string]struct{ collection, object string }{
	"pdb":   {"$PDBS", `{$PDB,"metadata":{"name":"%s"},$SPEC}`},
	"class": {"$CLASSES", `{$CLASS,"metadata":{"name":"%s"},"spec":{"controller":"example.com/c"}}`},
	"map":   {"$MAPS", `{$MAP,"metadata":{"name":"%s"},"data":{"k":"v"}}`},
	"event": {"$EVENTS", `{$EVENT,"metadata":{"name":"%s"},"involvedObject":{"kind":"Pod","namespace":"$NS",` +
		`"name":"p"},"reason":"R","message":"M","type":"Normal"}`},
	"widget": {"$WIDGETS", `{$WIDGET,"metadata":{"name":"%s"},"spec":{"color":"red"}}`},
}

// give makes an object: given KIND NAME [MERGE PATCH].
func (a *asked) give(line string) {
	a.Helper()
	words := strings.SplitN(a.fill(line), " ", 4)
	kind, ok := standard[words[1]]
	if !ok || len(words) < 3 {
		a.Fatalf("%q gives nothing", line)
	}
	object := []byte(a.fill(fmt.Sprintf(kind.object, words[2])))
	if len(words) > 3 {
		var err error
		if object, err = jsonpatch.MergePatch(object, []byte(words[3])); err != nil {
			a.Fatalf("%s: %v", line, err)
		}
	}
	answers := a.ask([]string{"POST " + kind.collection, "Content-Type: application/json", "", string(object)})
	if len(answers) != 1 || !strings.HasPrefix(answers[0], "<<< 201") {
		a.Fatalf("%s: %s", line, answers)
	}
}

var (
	wordPattern  = regexp.MustCompile(`\$[A-Z]+`)
	bytesPattern = regexp.MustCompile(`⟪(\w+) ([^⟫]*)⟫`)
)

// fill replaces words, and what can't be written in a text: ⟪3 ab⟫ is ababab, ⟪3n ab⟫ three
// lines of ab, ⟪x 00ff⟫ two bytes, ⟪ago 3h⟫ the time three hours ago.
func (a *asked) fill(text string) string {
	text = wordPattern.ReplaceAllStringFunc(text, func(word string) string {
		if value, ok := a.words[word]; ok {
			return value
		}
		return word
	})
	return bytesPattern.ReplaceAllStringFunc(text, func(s string) string {
		parts := bytesPattern.FindStringSubmatch(s)
		if parts[1] == "x" {
			data, err := hex.DecodeString(parts[2])
			if err != nil {
				a.Fatalf("%s: %v", s, err)
			}
			return string(data)
		}
		if parts[1] == "ago" {
			d, err := time.ParseDuration(parts[2])
			if err != nil {
				a.Fatalf("%s: %v", s, err)
			}
			return time.Now().Add(-d).UTC().Format("2006-01-02T15:04:05.000000Z")
		}
		count, lines := strings.CutSuffix(parts[1], "n")
		n, err := strconv.Atoi(count)
		if err != nil {
			a.Fatalf("%s: %v", s, err)
		}
		if lines {
			parts[2] += "\r\n"
		}
		return strings.Repeat(parts[2], n)
	})
}

// message is a request as it is sent, and how its answer is read.
type message struct {
	method string
	bytes  string
	// raw: there may be several answers. half: no more will be sent. events: the connection is closed after so many.
	raw, half bool
	events    int
	managed   bool
	// until: the request is repeated until the answer has this code, and this text in it, and is one that asked.wants.
	until string
}

// ask sends a request and returns its answers as the file has them.
func (a *asked) ask(request []string) []string {
	a.Helper()
	m := a.message(request)
	if m.until == "" {
		return a.askOnce(m)
	}
	code, text, _ := strings.Cut(m.until, " ")
	for end := time.Now().Add(time.Minute); ; {
		names := a.normal.clone()
		answers := a.askOnce(m)
		if len(answers) == 1 && strings.HasPrefix(answers[0], answerMark+code) && strings.Contains(answers[0], text) &&
			(a.wants == nil || a.wants(answers) || time.Now().After(end)) {
			return answers
		}
		if time.Now().After(end) {
			a.Fatalf("%s is not answered with %s: %s", request[0], m.until, answers)
		}
		a.normal = names
		<-time.After(20 * time.Millisecond)
	}
}

func (a *asked) askOnce(m message) []string {
	a.Helper()
	a.sent(m.bytes)
	if a.client != nil {
		if answer, ok := a.askHTTP2(m); ok {
			return []string{answer}
		}
	}
	connection, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Minute}, "tcp", a.host, a.tls)
	if err != nil {
		a.Fatal(err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(40 * time.Second)); err != nil {
		a.Fatal(err)
	}
	sent := make(chan struct{})
	go func() { // the server may answer, and close, before it has read everything
		defer close(sent)
		if _, err := io.WriteString(connection, m.bytes); err == nil && m.half {
			_ = connection.CloseWrite()
		}
	}()
	defer func() { connection.Close(); <-sent }()
	reader := bufio.NewReader(connection)
	var answers []string
	for {
		response, err := http.ReadResponse(reader, &http.Request{Method: m.method})
		switch {
		case err != nil && len(answers) == 0 && m.raw:
			return []string{answerMark + "nothing"}
		case err != nil && len(answers) == 0:
			a.Fatalf("no answer: %v", err)
		case err != nil:
			return answers
		}
		body, err := readBody(response, m.events)
		if err != nil && !m.raw {
			a.Errorf("the answer has no end: %v", err)
		}
		a.remember(body)
		answers = append(answers, a.render(response, body, m))
		if !m.raw {
			return answers
		}
		if len(answers) < a.expects {
			continue
		}
		if err := connection.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			return answers
		}
	}
}

// askHTTP2 sends a message over HTTP/2. It is false for what only bytes can say.
func (a *asked) askHTTP2(m message) (string, bool) {
	a.Helper()
	if m.raw {
		return "", false
	}
	request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(m.bytes)))
	if err != nil || request.Method == http.MethodConnect || request.Header.Get("Expect") != "" ||
		request.Header.Get("Upgrade") != "" {
		return "", false
	}
	sent, err := io.ReadAll(request.Body)
	if err != nil {
		return "", false
	}
	request = request.WithContext(a.Context())
	request.RequestURI, request.URL.Scheme, request.URL.Host, request.Close = "", "https", a.host, false
	// A connection that another request made the server close is opened anew.
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(sent)), nil }
	request.Body, _ = request.GetBody()
	if len(sent) == 0 {
		request.Body, request.GetBody = nil, nil
	}
	if request.UserAgent() == "" {
		request.Header.Set("User-Agent", "") // else the client names itself
	}
	response, err := a.client.Do(request)
	if err != nil {
		a.Fatalf("over HTTP/2: %v", err)
	}
	defer response.Body.Close()
	body, err := readBody(response, m.events)
	if err != nil || response.ProtoMajor != 2 {
		a.Errorf("%s, and the answer has no end: %v", response.Proto, err)
	}
	a.remember(body)
	return a.render(response, body, m), true
}

func readBody(response *http.Response, events int) ([]byte, error) {
	if events == 0 {
		return io.ReadAll(response.Body)
	}
	var body bytes.Buffer
	lines := bufio.NewReader(response.Body)
	for range events {
		line, err := lines.ReadBytes('\n')
		body.Write(line)
		if err != nil {
			return body.Bytes(), err
		}
	}
	return body.Bytes(), nil
}

// message reads a request's lines. Those that begin with @ tell how it is sent: @user none, @events 2, @half, @managed,
// @until 403 denied.
func (a *asked) message(lines []string) message {
	var m message
	var target string
	auth, rest := "$AUTH", []string{}
	for i, line := range lines {
		word, value, _ := strings.Cut(line, " ")
		switch {
		case i == 0:
			m.method, target = word, value
		case line == "":
			rest = append(rest, lines[i:]...)
		case line == "@half":
			m.half = true
		case line == "@managed":
			m.managed = true
		case word == "@until":
			m.until = value
		case word == "@user":
			auth = ""
		case word == "@events":
			m.events, _ = strconv.Atoi(value)
		default:
			rest = append(rest, line)
			continue
		}
		if line == "" {
			break
		}
	}
	if m.method == "RAW" {
		m.raw = true
		m.bytes = a.fill(strings.Join(rest, "\r\n"))
		return m
	}
	head, body := []string{m.method + " " + target + " HTTP/1.1", "Host: $HOST", "Connection: close"}, ""
	if auth != "" && !strings.Contains(strings.Join(rest, "\n"), "Authorization:") {
		head = append(head, auth)
	}
	for i, line := range rest {
		if line == "" {
			body = a.fill(strings.Join(rest[i+1:], "\n"))
			break
		}
		head = append(head, line)
	}
	if body != "" && !strings.Contains(strings.Join(head, "\n"), "Content-Length:") {
		head = append(head, fmt.Sprintf("Content-Length: %d", len(body)))
	}
	m.bytes = a.fill(strings.Join(head, "\r\n")) + "\r\n\r\n" + body
	return m
}

// remember keeps what the next request of the scene may say: $RV, $UID, $CONTINUE.
func (a *asked) remember(body []byte) {
	var object struct {
		Metadata struct{ ResourceVersion, UID, Continue, Name string }
	}
	if json.Unmarshal(body, &object) != nil {
		return
	}
	for word, value := range map[string]string{
		"$RV": object.Metadata.ResourceVersion, "$UID": object.Metadata.UID, "$CONTINUE": object.Metadata.Continue,
		"$NAME": object.Metadata.Name,
	} {
		if value != "" {
			a.words[word] = value
		}
	}
}

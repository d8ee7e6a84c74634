package matrix

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// nobody sends no credentials.
const nobody = "-"

// The protocols of a row.
const (
	firstProtocol  = "h1"
	secondProtocol = "h2"
)

// message is a request of a row, with the words filled in.
type message struct {
	method, target string
	// headers are lines in the client's spelling; those of HTTP/2 may begin with a colon.
	headers []string
	body    string
	// raw is all that is sent, if the request is given in bytes.
	raw string
	// version is that of HTTP/1.
	version string
	// events is how many lines of a watch are read; answers is how many answers come.
	events, answers int
	// until is the code that kube-apiserver answers once its caches know what was written before.
	until int
	// exact leaves the names of HTTP/2 headers in the client's case.
	exact bool
	// certificate names a client certificate; "" is none.
	certificate string
}

// newMessage makes the request of q as who sends it. words are what the request may refer to.
func newMessage(q *question, who string, words map[string]string) (message, error) {
	m := message{version: "1.1", answers: 1}
	fill := func(text string) string { return fillIn(text, words) }
	m.method, m.target, _ = strings.Cut(fill(q.request[0]), " ")
	var rest []string
	for i, line := range q.request[1:] {
		if line == "" {
			rest = q.request[i+2:]
			break
		}
		if strings.HasPrefix(line, "@") {
			if err := m.option(line); err != nil {
				return m, err
			}
			continue
		}
		m.headers = append(m.headers, fill(line))
	}
	if m.method == "RAW" {
		lines := append(m.headers, "")
		for _, line := range rest {
			lines = append(lines, fill(line))
		}
		m.raw = strings.TrimRight(strings.Join(lines, "\r\n"), "\r\n") + "\r\n\r\n"
		return m, nil
	}
	m.body = fill(strings.Join(rest, "\n"))
	if m.body != "" && !m.has("content-type") {
		m.headers = append(m.headers, "Content-Type: application/yaml")
	}
	m.identify(who, words)
	return m, nil
}

func (m *message) option(line string) error {
	name, value, _ := strings.Cut(line, " ")
	var err error
	switch name {
	case "@who", "@how":
	case "@version":
		m.version = value
	case "@events":
		m.events, err = strconv.Atoi(value)
	case "@answers":
		m.answers, err = strconv.Atoi(value)
	case "@until":
		m.until, err = strconv.Atoi(value)
	case "@certificate":
		m.certificate = value
	case "@exact":
		m.exact = true
	default:
		err = fmt.Errorf("%q is no option", line)
	}
	return err
}

// identify adds the credentials of who: a certificate, or a token that a word names.
func (m *message) identify(who string, words map[string]string) {
	if kind, name, found := strings.Cut(who, ":"); found && kind == "cert" {
		m.certificate = name
		return
	}
	if who == nobody {
		return
	}
	token, known := words[who]
	if !known {
		token = who + "-token"
	}
	m.headers = append([]string{"Authorization: Bearer " + token}, m.headers...)
}

// has reports whether a header is among the lines.
func (m *message) has(name string) bool {
	for _, line := range m.headers {
		if len(line) > len(name) && strings.EqualFold(line[:len(name)], name) && line[len(name)] == ':' {
			return true
		}
	}
	return false
}

// text is the message as HTTP/1 has it.
func (m *message) text(host, id string) string {
	if m.raw != "" {
		return m.raw
	}
	head := []string{m.method + " " + m.target + " HTTP/" + m.version}
	for _, line := range []string{"Host: " + host, "Connection: close", "Audit-ID: " + id} {
		name, _, _ := strings.Cut(line, ":")
		if !m.has(name) {
			head = append(head, line)
		}
	}
	head = append(head, m.headers...)
	if m.body != "" && !m.has("Content-Length") && !m.has("Transfer-Encoding") {
		head = append(head, fmt.Sprintf("Content-Length: %d", len(m.body)))
	}
	return strings.Join(head, "\r\n") + "\r\n\r\n" + m.body
}

var (
	wordPattern  = regexp.MustCompile(`\$\{([^}]+)\}`)
	bytesPattern = regexp.MustCompile(`⟪(\w+) ([^⟫]*)⟫`)
)

// fillIn replaces words, and what can't be written in a text: ⟪3 ab⟫ is ababab, ⟪x 00ff⟫ two bytes.
func fillIn(text string, words map[string]string) string {
	text = wordPattern.ReplaceAllStringFunc(text, func(word string) string {
		if value, ok := words[word[2:len(word)-1]]; ok {
			return value
		}
		return word
	})
	return bytesPattern.ReplaceAllStringFunc(text, func(s string) string {
		parts := bytesPattern.FindStringSubmatch(s)
		if parts[1] == "x" {
			data, err := hex.DecodeString(parts[2])
			if err != nil {
				panic(err) // a table is wrong
			}
			return string(data)
		}
		n, err := strconv.Atoi(parts[1])
		if err != nil {
			panic(err)
		}
		return strings.Repeat(parts[2], n)
	})
}

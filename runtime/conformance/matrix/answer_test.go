package matrix

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// canary is the value that nobody but its readers may see, as a Secret has it, and canaryMark marks an answer with it.
const (
	canary     = "Y2FuYXJ5LXZhbHVl" // in base64
	canaryMark = " WITH THE CANARY"
)

// maxText is how much of a text a table holds.
const maxText = 60

var (
	uidPattern   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	tokenPattern = regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]*`)
	addrPattern  = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	// Of several roles that allow a thing, kube-apiserver names one or the other.
	discoveryPattern = regexp.MustCompile(`ClusterRoleBinding \\?"system:(discovery|public-info-viewer)\\?" of ` +
		`ClusterRole \\?"system:(discovery|public-info-viewer)\\?"`)
	printPattern = regexp.MustCompile(`SHA256=[0-9a-f]{64}`)
)

// tidy gives names to what differs by nature.
func tidy(text string) string {
	text = tokenPattern.ReplaceAllString(text, "<token>")
	text = uidPattern.ReplaceAllString(text, "<uid>")
	text = timePattern.ReplaceAllString(text, "<time>")
	text = addrPattern.ReplaceAllString(text, "<host>")
	text = printPattern.ReplaceAllString(text, "SHA256=<print>")
	text = discoveryPattern.ReplaceAllString(text, "<a role of discovery>")
	return strings.NewReplacer("\n", "⏎", "\r", "␍", "\x00", "␀").Replace(text)
}

// object is what an answer's body is read as.
type object struct {
	Kind, APIVersion string
	Metadata         metadata
	Code             int
	Reason, Message  string
	Status           json.RawMessage
	Items            []object
	Type             string
	Object           *object
}

// line is an answer as a table holds it: code, reason and message of a status; code and names of objects.
func (a answer) line() string {
	if a.failure != "" {
		return a.failure
	}
	text := fmt.Sprint(a.code)
	if location := a.header.Get("Location"); location != "" {
		text += " to " + tidy(location)
	}
	for _, warning := range a.header.Values("Warning") {
		text += " (" + tidy(warning) + ")"
	}
	if rest := a.describe(); rest != "" {
		text += " " + rest
	}
	if bytes.Contains(a.body, []byte(canary)) || bytes.Contains(a.body, []byte("canary-value")) {
		text += canaryMark
	}
	return text
}

func (a answer) describe() string {
	var parts []string
	for line := range bytes.Lines(bytes.TrimSpace(a.body)) {
		var o object
		if json.Unmarshal(line, &o) != nil || o.Kind == "" && o.Object == nil {
			return describeText(a.body)
		}
		if o.Object != nil {
			parts = append(parts, o.Type+" "+o.Object.describe())
			continue
		}
		parts = append(parts, o.describe())
	}
	return strings.Join(parts, ", ")
}

func describeText(body []byte) string {
	text := strings.TrimSpace(string(body))
	switch {
	case json.Valid(body):
		return "| a document"
	case len(text) > maxText:
		return "| a text"
	}
	return "| " + tidy(text)
}

func (o *object) describe() string {
	switch {
	case o.Kind == "Status" && o.Message != "":
		return o.Reason + ": " + tidy(o.Message)
	case o.Kind == "Status":
		return "Status " + tidy(string(o.Status))
	case strings.HasSuffix(o.Kind, "Review") || o.Kind == "TokenRequest":
		return o.Kind + " " + tidy(sortedStatus(o.Status))
	case o.Items == nil:
		return strings.TrimSpace(o.Kind + " " + o.Metadata.path())
	}
	var names []string
	for _, item := range o.Items {
		if ours := slices.Contains([]string{"red", "blue"}, item.Metadata.Namespace); ours {
			names = append(names, item.Metadata.path())
		}
	}
	return strings.TrimSpace(o.Kind + " " + strings.Join(names, " "))
}

// sortedStatus is a status with its members and rules in an order that means nothing.
func sortedStatus(status json.RawMessage) string {
	var members map[string]any
	if json.Unmarshal(status, &members) != nil {
		return string(status)
	}
	for _, name := range []string{"resourceRules", "nonResourceRules"} {
		rules, _ := members[name].([]any)
		slices.SortFunc(rules, func(a, b any) int { return strings.Compare(compact(a), compact(b)) })
	}
	return compact(members)
}

func compact(value any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // it was decoded from JSON
	}
	return strings.TrimSpace(b.String())
}

// metadata is the name of an object.
type metadata struct{ Namespace, Name, UID string }

func (m metadata) path() string {
	if m.Namespace == "" {
		return tidy(m.Name)
	}
	return m.Namespace + "/" + tidy(m.Name)
}

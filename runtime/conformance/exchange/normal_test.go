package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// normal makes answers of two servers comparable: what differs by nature gets names, in the order of appearance.
type normal struct {
	names map[string]string
	count map[string]int
	// generated finds names that a server made up.
	generated *regexp.Regexp
	// hide are texts that differ by nature, and what stands for them.
	hide map[string]string
}

// clone returns a normal that knows the same names.
func (n *normal) clone() *normal {
	return &normal{names: maps.Clone(n.names), count: maps.Clone(n.count), generated: n.generated, hide: n.hide}
}

func newNormal() *normal { return &normal{names: map[string]string{}, count: map[string]int{}} }

// name is the name of a value: the same for the same value.
func (n *normal) name(kind, value string) string {
	if n.names[value] == "" {
		n.count[kind]++
		n.names[value] = fmt.Sprintf("<%s %d>", kind, n.count[kind])
	}
	return n.names[value]
}

// headers are those that clients act on. Vary is none of them: ours says it of all that may be compressed,
// kube-apiserver only of what is.
var headers = []string{
	"Accept-Encoding", "Accept-Patch", "Allow", "Cache-Control", "Content-Encoding", "Content-Type", "Etag", "Location",
	"Retry-After",
	"Warning", "Www-Authenticate",
}

// maxText is how much of a text a file holds.
const maxText = 600

// render is an answer as a file holds it.
func (n *normal) render(response *http.Response, body []byte, m message) string {
	var b strings.Builder
	contentType := response.Header.Get("Content-Type")
	if strings.HasPrefix(contentType, "application/yaml") {
		if converted, err := yaml.YAMLToJSON(body); err == nil {
			body = converted
		}
	}
	fmt.Fprintf(&b, "%s%d%s\n", answerMark, response.StatusCode, reasonOf(body))
	for _, name := range headers {
		for _, value := range response.Header.Values(name) {
			if name == "Etag" {
				value = "<etag>"
			}
			fmt.Fprintf(&b, "%s: %s\n", name, clip(n.text(value)))
		}
	}
	if len(body) > 0 {
		b.WriteString("\n" + n.body(body, m))
	}
	return strings.TrimRight(b.String(), "\n")
}

func reasonOf(body []byte) string {
	var status struct{ Kind, Reason string }
	if json.Unmarshal(body, &status) != nil || status.Kind != "Status" || status.Reason == "" {
		return ""
	}
	return " " + status.Reason
}

func (n *normal) body(body []byte, m message) string {
	lines := bytes.Split(bytes.TrimSpace(body), []byte("\n"))
	if len(lines) > 1 && json.Valid(lines[0]) {
		var b strings.Builder
		for _, line := range lines {
			b.WriteString(n.event(line, m) + "\n")
		}
		return b.String()
	}
	object, ok := decode(body)
	if !ok && (!utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0) {
		return "| no text"
	}
	if !ok {
		text := clip(n.text(string(body)))
		return "| " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n| ")
	}
	if _, isEvent := object["object"]; isEvent && object["type"] != nil {
		return n.event(body, m)
	}
	return n.object(object, m)
}

func decode(body []byte) (map[string]any, bool) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var object map[string]any
	err := decoder.Decode(&object)
	return object, err == nil && object != nil
}

// event is a line of a watch.
func (n *normal) event(line []byte, m message) string {
	event, ok := decode(line)
	if !ok {
		return "| " + clip(string(line))
	}
	if object, ok := event["object"].(map[string]any); ok && event["type"] == "BOOKMARK" {
		ofTheWatch(object)
		if rows, _ := object["rows"].([]any); len(rows) == 1 {
			row, _ := rows[0].(map[string]any)
			inner, _ := row["object"].(map[string]any)
			ofTheWatch(inner)
		}
	}
	return n.compact(event, m)
}

// ofTheWatch names the version of a bookmark, which depends on what else is going on.
func ofTheWatch(object map[string]any) {
	if metadata, ok := object["metadata"].(map[string]any); ok {
		metadata["resourceVersion"] = "<of the watch>"
	}
}

func (n *normal) compact(object map[string]any, m message) string {
	n.tidy(object, m, "")
	return marshal(object)
}

func marshal(value any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // it was decoded from JSON
	}
	return strings.TrimSpace(b.String())
}

// object prints a line for each member; what is long in it gets lines of its own.
func (n *normal) object(object map[string]any, m message) string {
	n.tidy(object, m, "")
	if object["kind"] == "Status" {
		delete(object, "kind")
		delete(object, "apiVersion")
		delete(object, "code")
		delete(object, "reason")
		for _, member := range []string{"metadata", "details"} {
			if value, _ := object[member].(map[string]any); len(value) == 0 {
				delete(object, member)
			}
		}
		if object["status"] == "Failure" {
			delete(object, "status")
		}
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(object)) {
		value := object[key]
		long := takeLists(value)
		fmt.Fprintf(&b, "%s: %s\n", key, clipLong(marshal(value)))
		for _, line := range long {
			fmt.Fprintf(&b, "  %s\n", clipLong(line))
		}
	}
	return b.String()
}

// takeLists takes the lists out that are easier to read as lines.
func takeLists(value any) []string {
	object, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	var lines []string
	for _, name := range []string{"causes", "managedFields"} {
		list, ok := object[name].([]any)
		if !ok {
			continue
		}
		delete(object, name)
		for _, item := range list {
			lines = append(lines, strings.TrimSuffix(name, "s")+" "+marshal(item))
		}
	}
	return lines
}

var (
	objectPattern   = regexp.MustCompile(`(?s)Invalid value: "\{.*\}":`) // of a patch that made something wrong
	generatePattern = regexp.MustCompile(`"generateName":"([^"]+)"`)
	uuidPattern     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	versionPattern  = regexp.MustCompile(`((?:resource version|resourceVersion|ResourceVersion|current|in ` +
		`record)"?[: (]+"?)(\d{1,18})`)
	// The servers know different media types.
	mediaPattern = regexp.MustCompile(`,? application/(vnd\.kubernetes\.protobuf|cbor(-seq)?|apply-patch\+cbor)(;` +
		`[a-z=]+)?`)
	// Texts of apimachinery that changed from 1.36 to 1.37: how much of a body they show, and how.
	shownPattern = regexp.MustCompile(`(?s)(json parse error: .*?)( into Go value of type .*)? \(.*\)$`)
	// How far a server is that nothing in the scene tells.
	currentPattern = regexp.MustCompile(`(Too large resource version: \d+, current: )(\d+|<version \d+>)`)
	agePattern     = regexp.MustCompile(`^\d+(ms|s)$`)
	timePattern    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
)

// tidy gives names to what differs by nature.
func (n *normal) tidy(value any, m message, under string) any {
	switch value := value.(type) {
	case map[string]any:
		n.tidyObject(value, m, under)
		return value
	case []any:
		for i := range value {
			if text, ok := value[i].(string); ok && under == "cells" && agePattern.MatchString(text) {
				value[i] = "<age>"
				continue
			}
			value[i] = n.tidy(value[i], m, under)
		}
		return value
	case string:
		return n.text(value)
	}
	return value
}

func (n *normal) tidyObject(object map[string]any, m message, under string) {
	_, isList := object["items"]
	_, isTable := object["rows"]
	if metadata, ok := object["metadata"].(map[string]any); ok && (isList || isTable) {
		if metadata["resourceVersion"] != nil {
			metadata["resourceVersion"] = "<of the list>"
		}
		tidyCustomList(object, metadata)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		text, isText := object[key].(string)
		switch {
		case key == "managedFields" && !m.managed:
			delete(object, key)
		case key == "resourceVersion" && isText && isNumber(text):
			object[key] = n.name("version", text)
		case key == "verbs":
			sortTexts(object[key])
		case key == "continue" && isText && text != "":
			object[key] = "<token>"
		case key == "name" && object["generateName"] != nil:
			object[key] = fmt.Sprint(object["generateName"], "<random>")
		case key == "description" && under == "columnDefinitions":
			delete(object, key) // texts of documentation, which differ from release to release
		default:
			object[key] = n.tidy(object[key], m, key)
		}
	}
}

// tidyCustomList takes away what only lists of custom resources say again: the items' kind, and that nothing follows.
func tidyCustomList(list, metadata map[string]any) {
	if metadata["continue"] == "" {
		delete(metadata, "continue")
	}
	items, _ := list["items"].([]any)
	for _, item := range items {
		if item, ok := item.(map[string]any); ok && fmt.Sprint(item["kind"], "List") == list["kind"] &&
			item["apiVersion"] == list["apiVersion"] {
			delete(item, "kind")
			delete(item, "apiVersion")
		}
	}
}

// sortTexts sorts a list whose order says nothing.
func sortTexts(list any) {
	if items, ok := list.([]any); ok {
		slices.SortFunc(items, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
}

func isNumber(text string) bool {
	return text != "" && text != "0" && strings.Trim(text, "0123456789") == ""
}

// sent notes of a request what its answer depends on.
func (n *normal) sent(body string) {
	const most = 63 - 5 // of a name that a server makes up
	if found := generatePattern.FindStringSubmatch(body); found != nil {
		n.generated = regexp.MustCompile(`(` + regexp.QuoteMeta(found[1][:min(len(found[1]), most)]) +
			`)[bcdfghjklmnpqrstvwxz2456789]{5}\b`)
	}
}

// text names what stands within texts. Times are named where they are of today.
func (n *normal) text(text string) string {
	for hidden, shown := range n.hide {
		text = strings.ReplaceAll(text, hidden, shown)
	}
	text = uuidPattern.ReplaceAllStringFunc(text, func(uid string) string { return n.name("uid", uid) })
	if n.generated != nil { // behind uids, which may end like a name that was made up
		text = n.generated.ReplaceAllString(text, "$1<random>")
	}
	text = versionPattern.ReplaceAllStringFunc(text, func(s string) string {
		parts := versionPattern.FindStringSubmatch(s)
		if name, known := n.names[parts[2]]; known {
			return parts[1] + name
		}
		return s
	})
	text = currentPattern.ReplaceAllString(text, "$1<now>")
	text = objectPattern.ReplaceAllString(text, "Invalid value: <object>:")
	text = shownPattern.ReplaceAllString(text, "$1")
	if strings.Contains(text, "media types") || strings.Contains(text, "Available representations") {
		text = mediaPattern.ReplaceAllString(text, "")
	}
	return timePattern.ReplaceAllStringFunc(text, func(s string) string {
		if at, err := time.Parse(time.RFC3339Nano, s); err == nil && time.Since(at).Abs() < 24*time.Hour {
			return "<now>"
		}
		return s
	})
}

func clip(text string) string {
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "") + "..."
	}
	return text
}

// clipLong leaves objects whole that a test could have.
func clipLong(text string) string {
	if len(text) > 20*maxText {
		return clip(text)
	}
	return text
}

package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// named returns a kind's object of that name.
func (k *exercised) named(name any, of object) object {
	out := maps.Clone(of)
	out["apiVersion"], out["kind"], out["metadata"] = k.apiVersion(), k.kind, object{"name": name}
	return out
}

// accepts reports whether the server would create an object, and what it answers otherwise.
func (k *exercised) accepts(candidate object) (bool, object) {
	answer, failure := k.server.send(k.TB,
		request{method: http.MethodPost, path: k.path() + "?dryRun=All", body: candidate})
	return failure == "", answer
}

// mostRepairs bounds how many fields are added to the minimal object.
const mostRepairs = 20

// minimal returns an object with no more fields than the server demands, or nil.
func (k *exercised) minimal() object {
	root := k.schemas.kind(k.group, k.version, k.kind)
	candidate, refusal := k.repaired(root, "")
	for i := 0; candidate == nil && i < len(words); i++ {
		candidate, _ = k.repaired(root, words[i])
	}
	if candidate == nil {
		k.Logf("an object with required fields alone is refused: %v", refusal["message"])
	}
	return candidate
}

// repaired returns an object with required fields, and those that the server demands beside them, or nil and the last
// refusal. Texts of no known form are word.
func (k *exercised) repaired(root *schema, word string) (candidate, refusal object) {
	candidate = k.named("minimal", maker{schemas: k.schemas, word: word}.object(root, 0))
	for range mostRepairs {
		ok, answer := k.accepts(candidate)
		if ok {
			return candidate, nil
		}
		if refusal = answer; !k.demanded(candidate, root, answer) {
			break
		}
	}
	return nil, refusal
}

// demanded adds the fields that a refusal demands, and sets those that have to be one of some values. It reports
// whether there are any.
func (k *exercised) demanded(candidate object, root *schema, refusal object) (added bool) {
	details, _ := refusal["details"].(object)
	causes, _ := details["causes"].([]any)
	for _, m := range []maker{{schemas: k.schemas, some: true}, {schemas: k.schemas, full: true}} {
		for _, cause := range causes {
			cause := cause.(object)
			field, _ := cause["field"].(string)
			message, _ := cause["message"].(string)
			m.leaf = supported(message)
			if (cause["reason"] == "FieldValueRequired" || m.leaf != nil) &&
				m.add(candidate, root, strings.Split(field, ".")) {
				added = true
			}
		}
		if added {
			return true
		}
	}
	return false
}

// supported returns the first of the values that the message of a cause lists, or nil.
func supported(message string) any {
	_, list, found := strings.Cut(message, "supported values: \"")
	value, _, ended := strings.Cut(list, "\"")
	if !found || !ended {
		return nil
	}
	return value
}

// add sets a field at a path, in objects and the first elements of lists, and what it is in. It reports whether it
// changed anything.
func (m maker) add(to any, at *schema, path []string) bool {
	s, _ := m.of(at)
	name, index, inList := strings.Cut(path[0], "[")
	parent, ok := to.(object)
	property := s.Properties[name]
	if !ok || property == nil || inList && index != "0]" {
		return false
	}
	before := fmt.Sprint(parent[name])
	if parent[name] == nil || len(path) == 1 {
		parent[name] = m.value(property, 0)
	}
	if len(path) == 1 && m.leaf != nil && !inList {
		parent[name] = m.leaf
	}
	changed := before != fmt.Sprint(parent[name])
	if len(path) == 1 {
		return changed
	}
	if !inList {
		return m.add(parent[name], property, path[1:]) || changed
	}
	list, _ := parent[name].([]any)
	property, _ = m.of(property)
	if len(list) == 0 || property.Items == nil {
		return changed
	}
	return m.add(list[0], property.Items, path[1:]) || changed
}

// mostTries bounds how many fields are tried for the full object, and how many other texts for these.
const mostTries = 300

// full returns an object with all fields that the server accepts.
func (k *exercised) full(minimal object) object {
	root := k.schemas.kind(k.group, k.version, k.kind)
	whole := k.named("full", maker{schemas: k.schemas, full: true}.object(root, 0))
	if ok, _ := k.accepts(whole); ok {
		return whole
	}
	g := &growing{exercised: k, whole: k.named("full", clone(minimal)), left: mostTries, words: mostTries}
	g.fields(g.whole, root, "")
	if len(g.refused) > 0 {
		k.Logf("refused with values that the schema allows: %s", strings.Join(g.refused, " "))
	}
	return g.whole
}

// growing is an object that gets one field after the other.
type growing struct {
	*exercised
	whole   object
	refused []string
	// left is how many fields may be tried, and words how many other texts for fields whose letters were refused.
	left, words int
}

// fields sets the fields of a part of the object that the server accepts: a whole value, or of an object the fields
// that it accepts.
func (g *growing) fields(part object, s *schema, path string) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if path == "" && (name == "metadata" || name == "apiVersion" || name == "kind") {
			continue
		}
		if g.left--; g.left < 0 {
			return
		}
		before, had := part[name]
		if g.accepted(part, name, maker{schemas: g.schemas, full: true}.value(s.Properties[name], 0)) {
			continue
		}
		inner, _ := g.schemas.of(s.Properties[name])
		if inner.Properties == nil && g.worded(part, name, s.Properties[name]) {
			continue
		}
		part[name] = before
		if !had {
			delete(part, name)
		}
		if inner.Properties == nil {
			g.refused = append(g.refused, path+name)
			continue
		}
		g.below(part, name, inner, path+name+".", had)
	}
}

// accepted sets a field, and reports whether the server accepts it.
func (g *growing) accepted(part object, name string, value any) bool {
	part[name] = value
	ok, _ := g.accepts(g.whole)
	return ok
}

// worded is accepted with each of the words, of a value that has texts of no known form.
func (g *growing) worded(part object, name string, s *schema) bool {
	letters := part[name]
	for _, word := range words {
		value := maker{schemas: g.schemas, full: true, word: word}.value(s, 0)
		if g.words--; g.words < 0 || reflect.DeepEqual(value, letters) {
			return false
		}
		if g.accepted(part, name, value) {
			return true
		}
	}
	return false
}

// below grows an object that is refused as a whole.
func (g *growing) below(part object, name string, inner *schema, path string, had bool) {
	if !had {
		required := func(word string) bool {
			return g.accepted(part, name, maker{schemas: g.schemas, word: word}.object(inner, 0))
		}
		if !required("") && !slices.ContainsFunc(words, required) {
			delete(part, name)
			g.refused = append(g.refused, path)
			return
		}
	}
	if at, ok := part[name].(object); ok {
		g.fields(at, inner, path)
	}
}

// clone copies an object in JSON.
func clone(of object) (out object) {
	data, err := json.Marshal(of)
	if err != nil {
		panic(err) // it was made of JSON
	}
	out, err = decode("", data)
	if err != nil {
		panic(err) // as above
	}
	return out
}

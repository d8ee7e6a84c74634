package marker

import (
	"go/token"
	"maps"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// setVerbs takes verbs in the spelling of discovery and in that of clients.
func setVerbs(k *model.Kind, u *Use) {
	k.VerbsPos, k.Verbs = u.Pos, []string{}
	for _, verb := range u.Strings() {
		if !slices.Contains(model.Verbs(), strings.ToLower(verb)) {
			u.fault(": %q is no verb of a server: known are create, delete, deleteCollection, get, list, patch, "+
				"update and watch, separated by semicolons", verb)
			continue
		}
		k.Verbs = append(k.Verbs, strings.ToLower(verb))
	}
	slices.Sort(k.Verbs)
	k.Verbs = slices.Compact(k.Verbs)
}

// The setters of clients. A kind has a client while its markers are read, and keeps it where +genclient is among them.

func setClient(k *model.Kind, u *Use) {
	k.Client.Pos = u.Pos
	if u.Value != "" {
		u.fault(" takes no value: leave it out where no client is wanted")
	}
}

func setNoStatus(k *model.Kind, _ *Use) { k.Client.NoStatus = true }

func setReadonly(k *model.Kind, _ *Use) {
	k.Client.Only = append(k.Client.Only, "get", "list", "watch")
}

func addOnlyVerbs(k *model.Kind, u *Use) {
	k.OnlyVerbsPos, k.OnlyVerbs = u.Pos, nil // a kind without storage has those of the last one
	for verb := range strings.SplitSeq(u.Value, ",") {
		k.OnlyVerbs = append(k.OnlyVerbs, strings.TrimSpace(verb))
	}
	k.Client.Only = append(k.Client.Only, u.clientVerbs()...)
}

func addSkippedVerbs(k *model.Kind, u *Use) {
	k.Client.Skip = append(k.Client.Skip, u.clientVerbs()...)
}

func (u *Use) clientVerbs() []string {
	known := model.ClientVerbs()
	var out []string
	for verb := range strings.SplitSeq(u.Value, ",") {
		if verb = strings.TrimSpace(verb); !slices.Contains(known, verb) {
			u.fault(": %q is no verb of clients: known are %s", verb, strings.Join(known, ", "))
		}
		out = append(out, verb)
	}
	return out
}

// methodVerbs are those that an additional method can have, and whether its input can be of another type.
var methodVerbs = map[string]bool{"create": true, "update": true, "apply": true, "get": false, "list": false,
	"patch": false}

// addClientMethod reads +genclient:method=Name,verb=...,subresource=...,input=...,result=...
func addClientMethod(k *model.Kind, u *Use) {
	parts := strings.Split(u.Value, ",")
	m := model.ClientMethod{Name: strings.TrimSpace(parts[0]), Pos: u.Pos}
	if !token.IsIdentifier(m.Name) || !token.IsExported(m.Name) {
		u.fault(": %q is no name of an exported method: write +%s=UpdateScale,verb=update,subresource=scale", m.Name,
			u.Name)
		return
	}
	for _, part := range parts[1:] {
		if !u.setMethod(&m, strings.TrimSpace(part)) {
			return
		}
	}
	input, ok := methodVerbs[m.Verb]
	switch {
	case !ok:
		u.Errorf("method %s of the client has verb %q: write verb=, and one of %s",
			m.Name, m.Verb, strings.Join(slices.Sorted(maps.Keys(methodVerbs)), ", "))
		return
	case m.Input.Name != "" && !input:
		u.Errorf("method %s of the client has an input, but verb %s takes none", m.Name, m.Verb)
	}
	k.Client.Methods = append(k.Client.Methods, m)
}

// setMethod sets what one argument of a method says, and reports whether it says anything.
func (u *Use) setMethod(m *model.ClientMethod, part string) bool {
	key, value, _ := strings.Cut(part, "=")
	switch {
	case value == "":
		u.fault(": %q needs a value: %s=...", key, key)
		return false
	case key == "verb":
		m.Verb = value
	case key == "subresource":
		m.Subresource = value
	case key == "input":
		m.Input = u.ref(value)
	case key == "result":
		m.Result = u.ref(value)
	default:
		u.fault(": unknown argument %q: known are verb, subresource, input, result", key)
		return false
	}
	return true
}

package judge

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/spelling"
)

var strategies = []string{"merge", "replace", "retainKeys"}

// patchSource is what a tag says of strategic merge patches, or a marker where the tag says nothing.
type patchSource struct {
	name, text string
	pos        model.Position
	marked     bool
}

// patch judges how a field takes part in strategic merge patches: by its tag, which counts, and by the markers
// that repeat it.
func (r *checker) patch(f *model.Field) {
	before := len(r.findings)
	strategy := r.patchText(f, "patchStrategy", f.Schema.PatchStrategy)
	key := r.patchText(f, "patchMergeKey", f.Schema.PatchMergeKey)
	if message := badStrategy(strategy.text, f); message != "" {
		r.faultf(strategy.pos, "%s of %s: %s", strategy.name, f.Name, message)
	} else if message := badMergeKey(key.text, strategy.text, f); message != "" {
		pos := key.pos
		if key.text == "" {
			pos = strategy.pos
		}
		r.faultf(pos, "%s of %s: %s", key.name, f.Name, message)
	}
	if len(r.findings) > before {
		r.findings[before].Omit = func() { f.Schema.PatchStrategy, f.Schema.PatchMergeKey = "", "" }
		return
	}
	for _, s := range []patchSource{strategy, key} {
		if s.marked {
			r.warnf(s.pos, "marker \"+%s\" alone does nothing, for strategic merge patches go by the tag: write "+
				"%s:%q into it", s.name, s.name, s.text)
		}
	}
}

// patchText returns what the tag says, or else the marker of that name. It reports a marker that contradicts the tag.
func (r *checker) patchText(f *model.Field, name, tag string) patchSource {
	out := patchSource{name: name, text: tag, pos: f.Pos}
	for _, m := range f.Schema.Claims {
		switch {
		case m.Marker != name || m.Value == tag:
		case tag != "":
			r.faultf(m.Pos, "marker \"+%s\" says %q, and the tag of %s says %q, which counts: write the same", name,
				m.Value, f.Name, tag)
		default:
			out.text, out.pos, out.marked = m.Value, m.Pos, true
		}
	}
	return out
}

func badStrategy(text string, f *model.Field) string {
	if text == "" {
		return ""
	}
	words := strings.Split(text, ",")
	for _, word := range words {
		if !slices.Contains(strategies, word) {
			if near := spelling.Nearest(word, strategies); near != "" {
				return fmt.Sprintf("there is no strategy %q: did you mean %q?", word, near)
			}
			return fmt.Sprintf("there is no strategy %q: it is one of %s", word, strings.Join(strategies, ", "))
		}
	}
	retains := slices.Contains(words, "retainKeys")
	if len(words) > 2 || len(words) == 2 && (!retains || words[0] == words[1]) {
		return fmt.Sprintf("%q is more than one strategy: name one, with retainKeys beside it if need be", text)
	}
	at := f.Type.Pointee()
	if flexible(at, &f.Schema) {
		return ""
	}
	list := &model.Rule{}
	switch {
	case suits(list, at, "objects"):
	case !suits(list, at, "lists"):
		return fmt.Sprintf("it is for lists, maps and structs, and the field is %s", at.Describe())
	case retains && len(words) == 1:
		return "retainKeys is for objects, and the field is a list: write merge,retainKeys, which is for its elements"
	case retains && isBasic(at.Elem):
		return fmt.Sprintf("retainKeys is for objects, and each element is %s: remove it", at.Elem.Pointee().Describe())
	case slices.Contains(words, "merge") && !opaque(at.Elem.Pointee()) && suits(list, at.Elem.Pointee(), "lists"):
		return "lists of lists can't be merged: write replace, or remove it"
	}
	return ""
}

// badMergeKey tells what is wrong with a merge key, or with there being none.
func badMergeKey(key, strategy string, f *model.Field) string {
	at := f.Type.Pointee()
	if flexible(at, &f.Schema) {
		return ""
	}
	list, merges := suits(&model.Rule{}, at, "lists"), slices.Contains(strings.Split(strategy, ","), "merge")
	switch {
	case key == "" && (!list || !merges || isBasic(at.Elem) || opaque(at.Elem.Pointee())):
		return ""
	case key == "":
		return "the elements are objects, which are merged by a field that tells them apart: name it in the " +
			"tag" + suggestedKey(f)
	case !list:
		return fmt.Sprintf("it is for lists, and the field is %s", at.Describe())
	case !merges:
		return `elements have a key where they are merged: write patchStrategy:"merge" beside it`
	}
	return badKey(key, at.Elem.Pointee())
}

// badKey says why a field can't be the key of elements of the type.
func badKey(key string, elem *model.Type) string {
	switch {
	case isBasic(elem):
		return fmt.Sprintf("each element is %s, and has no fields to tell it apart by: remove it", elem.Describe())
	case opaque(elem) || elem.Form != model.Struct || elem.Ambiguous():
		return ""
	}
	field := fieldNamed(elem, key)
	if field == nil {
		return fmt.Sprintf("the elements have no field %q%s", key, otherKey(elem, key))
	}
	if value := field.Type.Pointee(); !opaque(value) && !isBasic(value) {
		return fmt.Sprintf("the field %q of the elements is %s, and no plain value", key, value.Describe())
	}
	return ""
}

// suggestedKey returns the key that server-side apply goes by.
func suggestedKey(f *model.Field) string {
	if len(f.Schema.ListMapKeys) == 0 {
		return ""
	}
	return fmt.Sprintf(", patchMergeKey:%q", f.Schema.ListMapKeys[0])
}

// isBasic tells a string, a number or a boolean, whichever JSON it has, from what is made of parts.
func isBasic(t *model.Type) bool { return t.Pointee().Form == model.Basic }

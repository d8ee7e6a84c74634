package codec

import (
	"context"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Standing returns those of the faults of a body that the new object still has: hooks and admission may have set what
// the client left out, or changed a text. What the defaults of the type set inside of it doesn't count: a custom
// resource has them only in an object that is there. A text that old has already isn't refused, nor is a zero value
// that the JSON of old has, or a member missed that it lacks: what clients read can be written, although the Go type
// has left out a zero value that a client sent, or written one that nobody sent. old is nil on a creation.
// Null in a list or map stays refused, because the zero value that takes its place has defaults like each other
// element.
func (v *Served[T]) Standing(faults field.ErrorList, obj T, old *T) field.ErrorList {
	if len(faults) == 0 {
		return nil
	}
	now, err := v.members(obj)
	if err != nil {
		return faults
	}
	var before any
	if old != nil {
		if before, err = v.members(*old); err != nil {
			return faults
		}
	}
	kept := keptTexts{before, map[string]map[string]bool{}}
	return slices.DeleteFunc(faults, func(e *field.Error) bool {
		text, _ := e.BadValue.(string)
		switch {
		case e.Type == field.ErrorTypeForbidden:
			return false // more faults
		case e.Type == field.ErrorTypeTypeInvalid && e.BadValue == nil: // null
			return !strings.HasSuffix(e.Field, "]") && at(now, e.Field) != nil
		case e.Type == allowedNull:
			return at(now, e.Field) != nil
		case text == "":
			return !isZero(at(now, e.Field)) || isAnswered(before, e)
		}
		return textOf(at(now, e.Field)) != text || kept.has(steps(e.Field), text)
	})
}

func (v *Served[T]) members(obj T) (members any, err error) {
	data, err := v.Encode(obj)
	if err != nil {
		return nil, err
	}
	return members, json.Unmarshal(data, &members)
}

// isAnswered reports whether the JSON of an object, which clients may send back, has the fault.
func isAnswered(object any, e *field.Error) bool {
	if e.Type == field.ErrorTypeRequired {
		return lacks(object, e.Field)
	}
	value := at(object, e.Field)
	if members, ok := value.(map[string]any); ok {
		return len(members) == 0 // one with zero members isn't the one without any that is refused
	}
	return value != nil && isZero(value)
}

// lacks reports whether there is an object that should have the member at a path, and that has none, or null.
func lacks(v any, path string) bool {
	object, name := parentOf(v, path)
	return object != nil && object[name] == nil
}

// parentOf returns the object that should have the member at a path, nil if there is none, and the member's name.
func parentOf(v any, path string) (object map[string]any, name string) {
	end := strings.LastIndexByte(path, '.')
	object, _ = at(v, path[:max(end, 0)]).(map[string]any)
	return object, path[end+1:]
}

// textOf returns the text of a value of JSON, which is a text or a number.
func textOf(v any) string {
	if n, ok := v.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	text, _ := v.(string)
	return text
}

// keptTexts are the texts of a stored object.
type keptTexts struct {
	object any
	// texts are those at a path, whose steps into lists count as one: items move in lists.
	texts map[string]map[string]bool
}

// has reports whether the object has a text at a path, of whose indexes any may be another.
func (k keptTexts) has(path []string, text string) bool {
	key := listIndex.ReplaceAllString(strings.Join(path, "\n"), "[]")
	found, known := k.texts[key]
	if !known {
		found = map[string]bool{}
		collectTexts(k.object, path, found)
		k.texts[key] = found
	}
	return found[text]
}

var listIndex = regexp.MustCompile(`\[[0-9]+\]`)

func collectTexts(v any, path []string, into map[string]bool) {
	if len(path) == 0 {
		if v != nil {
			into[textOf(v)] = true
		}
		return
	}
	switch in := v.(type) {
	case map[string]any:
		if listIndex.MatchString(path[0]) { // of a map, whose other numbers count as well
			for key, value := range in {
				if listIndex.MatchString("[" + key + "]") {
					collectTexts(value, path[1:], into)
				}
			}
			return
		}
		collectTexts(in[strings.Trim(path[0], "[]")], path[1:], into)
	case []any:
		for _, item := range in {
			collectTexts(item, path[1:], into)
		}
	}
}

// isZero reports whether a value of JSON may be what encoding/json writes of a zero value: "0s" of a duration, and "0"
// of a quantity. A default that sets a required string to such a text counts as none.
func isZero(v any) bool {
	switch v := v.(type) {
	case string:
		return v == "" || v == "0s" || v == "0"
	case float64:
		return v == 0
	case bool:
		return !v
	case map[string]any:
		for _, member := range v {
			if !isZero(member) {
				return false
			}
		}
	}
	list, _ := v.([]any)
	return len(list) == 0
}

// withoutDistinct returns faults of an object without those about duplicate items of a list whose keys differ in what
// the client sent: one has a key that is zero, and another one lacks it.
func (c *typed[T, V]) withoutDistinct(ctx context.Context, errs field.ErrorList, obj V) field.ErrorList {
	var members any
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		keys, ok := e.BadValue.(map[string]any)
		if e.Type != field.ErrorTypeDuplicate || !ok {
			return false
		}
		if members == nil {
			data, err := c.marshal(obj)
			if err != nil || json.Unmarshal(data, &members) != nil {
				return false
			}
			removeMissed(ctx, members)
		}
		return isDistinct(members, e.Field, keys)
	})
}

// removeMissed removes from the JSON of an object the zero values of required members that the client left out.
func removeMissed(ctx context.Context, object any) {
	faults, _ := ctx.Value(sentKey{}).(field.ErrorList)
	for _, f := range faults {
		end := strings.LastIndexByte(f.Field, '.')
		if parent, ok := at(object, f.Field[:max(end, 0)]).(map[string]any); ok && f.Type == field.ErrorTypeRequired {
			delete(parent, f.Field[end+1:])
		}
	}
}

// isDistinct reports whether there is an item at a path, and none before it has the same keys.
func isDistinct(object any, path string, keys map[string]any) bool {
	begin := strings.LastIndexByte(path, '[')
	if begin < 0 {
		return false
	}
	items, _ := at(object, path[:begin]).([]any)
	index, err := strconv.Atoi(strings.TrimSuffix(path[begin+1:], "]"))
	if err != nil || index >= len(items) {
		return false
	}
	item, _ := items[index].(map[string]any)
	return item != nil && !slices.ContainsFunc(items[:index], func(other any) bool {
		before, _ := other.(map[string]any)
		for key := range keys {
			if value, there := item[key]; !reflect.DeepEqual(value, before[key]) || there != has(before, key) {
				return false
			}
		}
		return true
	})
}

func has(members map[string]any, name string) bool {
	_, ok := members[name]
	return ok
}

var pathStep = regexp.MustCompile(`[^.\[\]]+|\[[^\]]*\]`)

func steps(path string) []string { return pathStep.FindAllString(path, -1) }

// at returns the value at the path of a field, or nil.
func at(v any, path string) any { return atSteps(v, steps(path)) }

// atSteps is at for a path that was taken apart at its dots, which names may have, too.
func atSteps(v any, path []string) any {
	if len(path) == 0 {
		return v
	}
	name, inBrackets := path[0], path[0][0] == '['
	if inBrackets {
		name = name[1 : len(name)-1]
	}
	switch in := v.(type) {
	case map[string]any:
		for i := 1; ; i++ {
			if found := atSteps(in[name], path[i:]); found != nil {
				return found
			}
			if i == len(path) || inBrackets || path[i][0] == '[' {
				return nil
			}
			name += "." + path[i]
		}
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i < len(in) {
			return atSteps(in[i], path[1:])
		}
	}
	return nil
}

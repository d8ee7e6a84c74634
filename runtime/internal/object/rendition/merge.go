package rendition

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Merge applies a decoded JSON merge patch to an object. It takes time that grows with the sizes of patch and object
// alone, however deep they nest.
func Merge(object []byte, patch map[string]any) ([]byte, error) {
	if out, ok := spliceMerge(make([]byte, 0, len(object)+256), object, patch, maxSpliced); ok {
		return out, nil
	}
	var tree map[string]any
	if err := DecodeTree(object, &tree); err != nil {
		return nil, err
	}
	mergeInto(tree, patch)
	return json.Marshal(tree)
}

// DecodeTree decodes a JSON object; numbers keep their text.
func DecodeTree(data []byte, into *map[string]any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// maxSpliced is how deep patches may reach into an object, each level of which is read again, before it is decoded.
const maxSpliced = 8

// spliceMerge appends object with a patch applied to out, and copies what the patch doesn't touch. It gives up, with
// false, where a key has escapes, or the patch reaches deeper than depth levels.
func spliceMerge(out, object []byte, patch map[string]any, depth int) ([]byte, bool) {
	if depth == 0 || len(object) < 2 || object[0] != '{' {
		return nil, false
	}
	out = append(out, '{')
	begin, fine := len(out), true
	seen := make(map[string]bool, len(patch))
	whole := Members(object, 1, func(key []byte, start, end int) bool {
		wanted, touched := patch[string(key)]
		if fine = bytes.IndexByte(key, '\\') < 0; !fine {
			return false
		}
		if touched {
			seen[string(key)] = true
			if wanted == nil {
				return true
			}
		}
		out = append(comma(out, begin), '"')
		out = append(append(out, key...), '"', ':')
		inner, wantsObject := wanted.(map[string]any)
		switch {
		case !touched:
			out = append(out, object[start:end]...)
		case object[start] == '{' && wantsObject:
			out, fine = spliceMerge(out, object[start:end], inner, depth-1)
		case object[start] == '{':
			out, fine = appendJSON(out, wanted)
		default:
			out, fine = appendJSON(out, withoutNulls(wanted))
		}
		return fine
	})
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		if !whole || !fine {
			return nil, false
		}
		if wanted := patch[key]; wanted != nil && !seen[key] {
			if out, fine = appendJSON(comma(out, begin), key); fine {
				out, fine = appendJSON(append(out, ':'), withoutNulls(wanted))
			}
		}
	}
	return append(out, '}'), whole && fine
}

// comma separates a member of the object that begins at begin from the one before.
func comma(out []byte, begin int) []byte {
	if len(out) > begin {
		out = append(out, ',')
	}
	return out
}

func appendJSON(out []byte, value any) ([]byte, bool) {
	data, err := json.Marshal(value)
	return append(out, data...), err == nil
}

// mergeInto changes object, never patch.
func mergeInto(object, patch map[string]any) {
	for key, wanted := range patch {
		if wanted == nil {
			delete(object, key)
			continue
		}
		inner, isObject := object[key].(map[string]any)
		more, wantsObject := wanted.(map[string]any)
		switch {
		case isObject && wantsObject:
			mergeInto(inner, more)
		case isObject:
			object[key] = wanted
		default:
			object[key] = withoutNulls(wanted)
		}
	}
}

// withoutNulls returns a copy of a new value without its null members, which would delete members of an old value. As
// in kube-apiserver, this includes objects in arrays.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, member := range value {
			if member != nil {
				out[key] = withoutNulls(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, member := range value {
			out[i] = withoutNulls(member)
		}
		return out
	}
	return value
}

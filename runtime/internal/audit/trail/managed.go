package trail

import (
	"bytes"
	"encoding/json"
)

// compact returns data without white space, and without managed fields if the decision omits them; nil if data is no
// JSON.
func (r *Record) compact(data []byte) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, data) != nil {
		return nil
	}
	if !r.decision.OmitManagedFields || !bytes.Contains(data, []byte(managedFields)) {
		return out.Bytes()
	}
	return withoutManagedFields(out.Bytes())
}

const managedFields = "managedFields"

// withoutManagedFields removes the managed fields of an object, of the items of a list, and of the objects in the rows
// of a Table. It keeps the rest as it is.
func withoutManagedFields(data json.RawMessage) json.RawMessage {
	return edit(data, func(object map[string]json.RawMessage) {
		cut(object)
		each(object, "items", cut)
		each(object, "rows", func(row map[string]json.RawMessage) {
			if inner, ok := row["object"]; ok {
				row["object"] = edit(inner, cut)
			}
		})
	})
}

func cut(object map[string]json.RawMessage) {
	if metadata, ok := object["metadata"]; ok {
		object["metadata"] = edit(metadata, func(m map[string]json.RawMessage) { delete(m, managedFields) })
	}
}

// each changes the objects in a list of an object.
func each(object map[string]json.RawMessage, list string, change func(map[string]json.RawMessage)) {
	var items []json.RawMessage
	if json.Unmarshal(object[list], &items) != nil {
		return
	}
	for i := range items {
		items[i] = edit(items[i], change)
	}
	if changed, err := json.Marshal(items); err == nil {
		object[list] = changed
	}
}

// edit changes an object, and returns what is not an object as it is.
func edit(data json.RawMessage, change func(map[string]json.RawMessage)) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil || object == nil {
		return data
	}
	change(object)
	changed, err := json.Marshal(object)
	if err != nil {
		return data
	}
	return changed
}

package registry

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"apigen.dev/runtime/api"
)

var errSelectsUnreadable = errors.New("a watch that is told what can't be read selects nothing")

// unread is the event of a value that can't be read, or of its removal: of the object it has what the key tells.
func (r *reader) unread(kind EventType, key string, revision int64) Event {
	namespace, name := "", strings.TrimPrefix(key, r.prefix)
	if r.namespaced {
		namespace, name, _ = strings.Cut(name, "/")
	}
	payload, err := json.Marshal(map[string]map[string]string{metadataMember: {
		"namespace": namespace, "name": name, versionMember: strconv.FormatInt(revision, 10),
	}})
	if err != nil {
		payload = []byte("{}") // strings can always be encoded
	}
	return Event{Type: kind, Object: api.Rendition{Payload: payload[1:]}}
}

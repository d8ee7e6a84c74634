package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// protobuf is the media type of objects in Kubernetes protobuf, and protobufPrefix is what each of them begins with.
const (
	protobuf       = "application/vnd.kubernetes.protobuf"
	protobufPrefix = "k8s\x00"
)

// inProtobuf reads an object and a list in protobuf, and updates the object with what was read.
func (k *exercised) inProtobuf(one string, created object) {
	k.Helper()
	read := k.raw(one)
	if k.has("list") {
		k.raw(k.path())
	}
	if read == nil || !k.has("update") {
		return
	}
	k.same("PUT of what GET answered in protobuf", k.do(request{method: http.MethodPut, path: one,
		mediaType: protobuf, body: read}), created)
}

// raw reads a path in protobuf; it returns nil if the answer is no protobuf.
func (k *exercised) raw(path string) []byte {
	k.Helper()
	data, failure := k.server.exchange(k.TB, request{path: path, accept: protobuf})
	if failure == "" && !strings.HasPrefix(string(data), protobufPrefix) {
		failure = fmt.Sprintf("the answer doesn't begin as protobuf does: %.500s", data)
	}
	if failure != "" {
		k.Errorf("GET %s as %s: %s", path, protobuf, failure)
		return nil
	}
	return data
}

// watches compares the first event of a watch that begins with what is stored. The server ends a watch without events.
func (k *exercised) watches(one string, created object) {
	k.Helper()
	name, _ := k.metadata(created)["name"].(string)
	version, _ := k.metadata(created)["resourceVersion"].(string)
	query := url.Values{
		"watch": {"true"}, "fieldSelector": {"metadata.name=" + name}, "timeoutSeconds": {"60"},
		"sendInitialEvents": {"true"}, "allowWatchBookmarks": {"true"},
		"resourceVersionMatch": {"NotOlderThan"}, "resourceVersion": {version},
	}
	path := k.path() + "?" + query.Encode()
	response, _ := k.server.open(k.TB, request{path: path})
	defer response.Body.Close()
	var event struct {
		Type   string
		Object object
	}
	decoder := json.NewDecoder(response.Body)
	decoder.UseNumber()
	err := decoder.Decode(&event)
	switch {
	case response.StatusCode != http.StatusOK || err != nil:
		k.Errorf("GET %s: %d %v %v", path, response.StatusCode, event.Object["message"], err)
	case event.Type != "ADDED":
		k.Errorf("the first event of a watch of %s is %s: %v", one, event.Type, event.Object)
	default:
		k.same("the first event of a watch", event.Object, created)
	}
}

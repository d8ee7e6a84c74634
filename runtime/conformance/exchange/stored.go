package exchange

import (
	_ "embed"
	"encoding/json"
)

// Stored is an object as kube-apiserver stored it in etcd, and as it showed it at Path in JSON.
type Stored struct {
	Path   string          `json:"path"`
	Value  []byte          `json:"value"`
	Object json.RawMessage `json:"object"`
}

//go:embed testdata/stored.json
var stored []byte

// StoredObjects returns recorded objects by their keys in etcd.
func StoredObjects() (map[string]Stored, error) {
	objects := map[string]Stored{}
	return objects, json.Unmarshal(stored, &objects)
}

package memory

import (
	"strings"

	"apigen.dev/runtime/btree"
	"apigen.dev/runtime/storage"
)

// tree holds the newest value of each key, and node is a state of it. Leaves carry nothing.
type (
	tree = btree.Tree[string, *storage.KeyValue, struct{}]
	node = btree.Node[string, *storage.KeyValue, struct{}]
)

var byKey = &btree.Order[string, *storage.KeyValue]{
	Key:         func(kv *storage.KeyValue) string { return kv.Key },
	Compare:     func(kv *storage.KeyValue, key string) int { return strings.Compare(kv.Key, key) },
	CompareKeys: strings.Compare,
}

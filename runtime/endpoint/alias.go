package endpoint

import (
	"bytes"

	yamlv3 "go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// checkAliases refuses YAML whose aliases stand for more than limit bytes, without expanding them. Documents without
// aliases, which is nearly all, cost two searches for a byte.
func checkAliases(data []byte, limit int64) error {
	if bytes.IndexByte(data, '&') < 0 || bytes.IndexByte(data, '*') < 0 {
		return nil
	}
	var document yamlv3.Node
	if err := yamlv3.Unmarshal(data, &document); err != nil {
		return apierrors.NewBadRequest("error converting YAML to JSON: " + err.Error())
	}
	e := expansion{sizes: map[*yamlv3.Node]int64{}, limit: limit}
	if e.size(&document) > limit {
		return apierrors.NewBadRequest("error converting YAML to JSON: the document's aliases stand for too much")
	}
	return nil
}

// expansion measures nodes as if their aliases were written out, each anchor once.
type expansion struct {
	sizes map[*yamlv3.Node]int64
	limit int64
}

// size is at most limit+1, so that sums can't overflow. A node that contains itself is beyond every limit.
func (e *expansion) size(node *yamlv3.Node) int64 {
	if node.Kind == yamlv3.AliasNode {
		return e.size(node.Alias)
	}
	if size, ok := e.sizes[node]; ok {
		return size
	}
	e.sizes[node] = e.limit + 1
	// Two bytes for quotes or brackets, one for what separates.
	size := int64(len(node.Value)) + 3
	for _, child := range node.Content {
		if size = min(size+e.size(child), e.limit+1); size > e.limit {
			break
		}
	}
	e.sizes[node] = size
	return size
}

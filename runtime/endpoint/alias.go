package endpoint

import (
	"bytes"
	"errors"
	"fmt"

	yamlv3 "go.yaml.in/yaml/v3"
)

// checkAliases refuses YAML whose aliases stand for more than limit bytes, without expanding them. Documents without
// aliases, which is nearly all, cost two searches for a byte.
func checkAliases(data []byte, limit int64) error {
	if bytes.IndexByte(data, '&') < 0 || bytes.IndexByte(data, '*') < 0 {
		return nil
	}
	var document yamlv3.Node
	if err := yamlv3.Unmarshal(data, &document); err != nil {
		return err
	}
	e := expansion{sizes: map[*yamlv3.Node]int64{}, open: map[*yamlv3.Node]bool{}, limit: limit}
	switch {
	case e.size(&document) <= limit:
		return nil
	case e.cycle != "":
		return fmt.Errorf("yaml: anchor '%s' value contains itself", e.cycle)
	}
	return errors.New("yaml: document contains excessive aliasing")
}

// expansion measures nodes as if their aliases were written out, each anchor once.
type expansion struct {
	sizes map[*yamlv3.Node]int64
	limit int64
	// open are the nodes that are being measured, cycle is the anchor of one that contains itself.
	open  map[*yamlv3.Node]bool
	cycle string
}

// size is at most limit+1, so that sums can't overflow. A node that contains itself is beyond every limit.
func (e *expansion) size(node *yamlv3.Node) int64 {
	if node.Kind == yamlv3.AliasNode {
		if e.open[node.Alias] {
			e.cycle = node.Value
		}
		return e.size(node.Alias)
	}
	if size, ok := e.sizes[node]; ok {
		return size
	}
	e.sizes[node], e.open[node] = e.limit+1, true
	defer delete(e.open, node)
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

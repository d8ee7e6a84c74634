package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"
)

// checkAliases refuses YAML that is larger than limit bytes after its aliases are expanded. It doesn't expand them. A
// document without aliases costs two searches for a byte.
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

// expansion computes the sizes of nodes after their aliases are expanded. It visits each anchor once.
type expansion struct {
	sizes map[*yamlv3.Node]int64
	limit int64
	// open are the nodes whose size is being computed. cycle is the anchor of a node that contains itself.
	open  map[*yamlv3.Node]bool
	cycle string
}

// size returns the size of a node, at most limit+1: no sum can overflow, and a cycle has this size.
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
	// A node has two quotes or brackets and a separator.
	size := int64(len(node.Value)) + 3
	for _, child := range node.Content {
		if size = min(size+e.size(child), e.limit+1); size > e.limit {
			break
		}
	}
	e.sizes[node] = size
	return size
}

// isYAMLText reports whether YAML allows the characters of a JSON text. YAML doesn't allow invalid UTF-8, control
// characters and escaped halves of surrogate pairs, which Go's JSON decoder replaces by U+FFFD.
func isYAMLText(data []byte) bool {
	for i := 0; i < len(data); {
		if data[i] == '\\' {
			size := escapeSize(data[i:])
			if size == 0 {
				return false
			}
			i += size
			continue
		}
		char, size := utf8.DecodeRune(data[i:])
		if char == utf8.RuneError && size == 1 || !isYAMLChar(char) {
			return false
		}
		i += size
	}
	return true
}

func isYAMLChar(char rune) bool {
	switch {
	case char < 0x7f:
		return true // the JSON decoder has refused the control characters
	case char < 0xa0:
		return char == 0x85
	}
	return char != 0xfffe && char != 0xffff
}

// escapeSize returns the length of the escape with which data, valid JSON, begins; 0 for half a surrogate pair.
func escapeSize(data []byte) int {
	const size = len(`\u1234`)
	first, ok := escapedUnit(data)
	switch {
	case !ok:
		return len(`\n`)
	case !utf16.IsSurrogate(first):
		return size
	}
	second, ok := escapedUnit(data[size:])
	if !ok || utf16.DecodeRune(first, second) == utf8.RuneError {
		return 0
	}
	return 2 * size
}

func escapedUnit(data []byte) (rune, bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	return rune(unit), err == nil
}

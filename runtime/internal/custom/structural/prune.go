package structural

import (
	"slices"
	"strconv"
	"strings"
)

// Prune removes the fields of an object that the schema doesn't name, and returns their sorted paths. It leaves
// apiVersion, kind and metadata of the object and of embedded objects alone.
func (s *Schema) Prune(object map[string]any) []string {
	p := pruner{}
	p.value(object, s)
	slices.Sort(p.removed)
	return p.removed
}

// pruner removes fields below a path.
type pruner struct {
	path    []string
	removed []string
}

func (p *pruner) at(step string, do func()) {
	p.path = append(p.path, step)
	do()
	p.path = p.path[:len(p.path)-1]
}

func (p *pruner) record(name string) {
	p.removed = append(p.removed, strings.TrimPrefix(strings.Join(p.path, "")+"."+name, "."))
}

func isTypeOrMeta(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

func (p *pruner) value(v any, s *Schema) {
	switch v := v.(type) {
	case map[string]any:
		p.members(v, s)
	case []any:
		if s != nil && s.Preserve {
			p.kept(v, s)
			return
		}
		for i, item := range v {
			p.at("["+strconv.Itoa(i)+"]", func() { p.value(item, s.item()) })
		}
	}
}

func (p *pruner) members(object map[string]any, s *Schema) {
	for name, value := range object {
		switch member, known := memberOf(s, name); {
		case s != nil && s.Embedded && isTypeOrMeta(name):
		case known:
			p.at("."+name, func() { p.value(value, member) })
		case s != nil && s.Preserve:
		default:
			p.record(name)
			delete(object, name)
		}
	}
}

// kept prunes within the items of a list whose unknown fields are kept.
func (p *pruner) kept(items []any, s *Schema) {
	for i, item := range items {
		p.at("["+strconv.Itoa(i)+"]", func() {
			switch item := item.(type) {
			case map[string]any:
				if s.Items != nil {
					preserving := *s.Items
					preserving.Preserve = true
					p.members(item, &preserving)
				}
			case []any:
				if s.Items != nil {
					p.kept(item, s.Items)
				}
			}
		})
	}
}

// memberOf returns the schema of a member, and whether the member may be there.
func memberOf(s *Schema, name string) (*Schema, bool) {
	if s == nil {
		return nil, false
	}
	if member, ok := s.Properties[name]; ok {
		return member, true
	}
	return s.Values, s.Open
}

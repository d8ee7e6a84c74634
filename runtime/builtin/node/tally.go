package node

import "slices"

// tally counts ways to nodes. Most objects have one node, and some, such as the default service account of a namespace,
// have thousands: a tally is a list that becomes a map. The zero value is empty.
type tally struct {
	few  []way
	many map[string]int // in place of few, if it isn't nil
}

type way struct {
	node  string
	count int
}

// maxFew is the length up to which a list is faster, and smaller, than a map.
const maxFew = 8

func (t *tally) find(node string) int {
	return slices.IndexFunc(t.few, func(w way) bool { return w.node == node })
}

func (t *tally) has(node string) bool {
	if t.many != nil {
		return t.many[node] > 0
	}
	return t.find(node) >= 0
}

func (t *tally) empty() bool { return len(t.few)+len(t.many) == 0 }

// add counts a way to a node, and reports whether it is the first one.
func (t *tally) add(node string) (first bool) {
	if t.many != nil {
		t.many[node]++
		return t.many[node] == 1
	}
	if i := t.find(node); i >= 0 {
		t.few[i].count++
		return false
	}
	if len(t.few) < maxFew {
		t.few = append(t.few, way{node, 1})
		return true
	}
	t.many = map[string]int{node: 1}
	for _, w := range t.few {
		t.many[w.node] = w.count
	}
	t.few = nil
	return true
}

// remove takes back a way that add has counted, and reports whether it was the last one.
func (t *tally) remove(node string) (last bool) {
	if t.many != nil {
		t.many[node]--
		if t.many[node] > 0 {
			return false
		}
		delete(t.many, node)
		if len(t.many) == 0 {
			t.many = nil
		}
		return true
	}
	i := t.find(node)
	t.few[i].count--
	if t.few[i].count > 0 {
		return false
	}
	t.few = slices.Delete(t.few, i, i+1)
	return true
}

func (t *tally) each(do func(node string)) {
	for node := range t.many {
		do(node)
	}
	for _, w := range t.few {
		do(w.node)
	}
}

package patch

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/util/mergepatch"
)

// mergeList merges the items of a patch into a list, or removes them from it.
func mergeList(list, patch []any, rules Rules, key string, deletes bool) ([]any, error) {
	if len(list) == 0 && len(patch) == 0 {
		return list, nil
	}
	objects, err := haveObjects(list, patch)
	if err != nil {
		return nil, err
	}
	var merged []any
	switch {
	case !objects && deletes:
		return without(list, patch), nil
	case !objects:
		merged = distinct(list, patch)
	case key == "":
		return nil, fmt.Errorf("cannot merge lists without merge key for %s", rules)
	default:
		if list, patch, err = applyDirectives(list, patch, key); err != nil {
			return nil, err
		}
		if merged, err = mergeItems(list, patch, rules, key); err != nil {
			return nil, err
		}
	}
	return arrange(merged, patch, list, key, objects)
}

// haveObjects reports whether the items of lists are objects. All items must be of one type.
func haveObjects(lists ...[]any) (bool, error) {
	var first any
	for _, list := range lists {
		for _, item := range list {
			if first == nil {
				first = item
			}
			switch _, isList := first.([]any); {
			case first == nil:
				return false, errUnmergeable
			case isList:
				return false, mergepatch.ErrNoListOfLists
			case reflect.TypeOf(item) != reflect.TypeOf(first):
				return false, fmt.Errorf("list element types are not identical: %v", fmt.Sprint(lists))
			}
		}
	}
	if first == nil {
		return false, errors.New("no elements in any of the given slices")
	}
	_, objects := first.(map[string]any)
	return objects, nil
}

// scalars reports whether no items of lists are objects or lists.
func scalars(lists ...[]any) bool {
	for _, list := range lists {
		for _, item := range list {
			if !isScalar(item) {
				return false
			}
		}
	}
	return true
}

// isScalar reports whether a value can be compared with others.
func isScalar(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func setOf(items []any) map[any]bool {
	set := make(map[any]bool, len(items))
	for _, item := range items {
		set[item] = true
	}
	return set
}

// without returns the scalars of a list that aren't removed.
func without(list, removed []any) []any {
	gone, left := setOf(removed), make([]any, 0, len(list))
	for _, item := range list {
		if !gone[item] {
			left = append(left, item)
		}
	}
	return left
}

// distinct returns the scalars of two lists, each once: the last takes the place of one that was there before. It works
// in place, like the library: where a list has a scalar twice, what comes behind it decides how the list is sorted.
func distinct(list, added []any) []any {
	all := append(list, added...)
	for i := range all {
		for j := i + 1; j < len(all); {
			if all[i] != all[j] {
				j++
				continue
			}
			all[j] = all[len(all)-1]
			all = all[:len(all)-1]
		}
	}
	return all
}

// applyDirectives removes from a list what the items of a patch with the directive $patch remove, and returns the list
// and the other items. If an item says that the list is replaced, these are the list.
func applyDirectives(list, patch []any, key string) (left, others []any, err error) {
	left, others = list, make([]any, 0, len(patch))
	replaces := false
	for _, item := range patch {
		object := item.(map[string]any)
		switch d, ok := object[directive]; {
		case !ok:
			others = append(others, item)
		case d == "delete":
			value, ok := object[key]
			if !ok {
				return nil, nil, mergepatch.ErrNoMergeKey(object, key)
			}
			left = withoutKey(left, key, value)
		case d == "replace":
			replaces = true
		case d == "merge":
			return nil, nil, errors.New("merging lists cannot yet be specified in the patch")
		default:
			return nil, nil, mergepatch.ErrBadPatchType(d, object)
		}
	}
	if replaces {
		return others, nil, nil
	}
	return left, others, nil
}

// withoutKey removes objects from a list in place. What is behind the end of the result decides how a list with
// $setElementOrder is sorted, as in the library: new items take the places of those that were removed.
func withoutKey(list []any, key string, value any) []any {
	for at := 0; at < len(list); {
		if has, ok := list[at].(map[string]any)[key]; ok && has == value {
			list = append(list[:at], list[at+1:]...)
		} else {
			at++
		}
	}
	return list
}

// mergeItems merges the objects of a patch into those of a list with the same key, and appends the others, in place.
func mergeItems(list, patch []any, rules Rules, key string) ([]any, error) {
	merged := list
	places := placesOf(list, key, true)
	for _, item := range patch {
		value, err := keyOf(item, key)
		if err != nil {
			return nil, err
		}
		if haveLike(merged, value, key) {
			return nil, errUnmergeable
		}
		object := item.(map[string]any)
		at, ok := places.of(value)
		if !ok {
			places.add(value, len(merged))
			merged = append(merged, object)
			continue
		}
		if merged[at], err = mergeObject(merged[at].(map[string]any), object, rules); err != nil {
			return nil, err
		}
	}
	return merged, nil
}

// arrange brings the items of a merged list into the order of the patch, as far as the patch has them, and keeps the
// others in the order of the list before the merge.
func arrange(merged, patch, list []any, key string, objects bool) ([]any, error) {
	inPatch, err := keysOf(patch, key, objects)
	if err != nil {
		return nil, err
	}
	before, err := keysOf(list, key, objects)
	if err != nil {
		return nil, err
	}
	var fromPatch, others []arranged
	for _, item := range merged {
		value := item
		if key != "" {
			if value, err = keyOf(item, key); err != nil {
				return nil, err
			}
		}
		if haveLike(patch, value, key) || len(merged) > 1 && haveLike(list, value, key) {
			return nil, errUnmergeable
		}
		a := arranged{item: item}
		a.before, a.isBefore = before.of(value)
		if a.at, a.isAt = inPatch.of(value); a.isAt {
			fromPatch = append(fromPatch, a)
			continue
		}
		a.at, a.isAt = a.before, a.isBefore
		others = append(others, a)
	}
	return weave(sortItems(others), sortItems(fromPatch)), nil
}

// arranged is an item with its places: in the order by which it is sorted, and in the list before the merge.
type arranged struct {
	item           any
	at, before     int
	isAt, isBefore bool
}

// haveLike reports whether a value can't be compared, and the key of an item is of the same type: an object or a list.
func haveLike(items []any, value any, key string) bool {
	if isScalar(value) {
		return false
	}
	return slices.ContainsFunc(items, func(item any) bool {
		has, err := keyOf(item, key)
		return err == nil && reflect.TypeOf(has) == reflect.TypeOf(value)
	})
}

// sortItems sorts as kube-apiserver does, where an item that the order lacks comes before all others. An item that the
// patch adds with a directive to delete, to a list that it replaces or adds, comes last.
func sortItems(items []arranged) []arranged {
	var kept, last []arranged
	for _, a := range items {
		if object, ok := a.item.(map[string]any); ok && object[directive] == "delete" {
			last = append(last, a)
		} else {
			kept = append(kept, a)
		}
	}
	sort.SliceStable(kept, func(i, j int) bool {
		return !kept[i].isAt || !kept[j].isAt || kept[i].at < kept[j].at
	})
	return append(kept, last...)
}

// weave puts items of the list between those of the patch: before the first that comes later in the list.
func weave(others, fromPatch []arranged) []any {
	all := make([]any, 0, len(others)+len(fromPatch))
	for len(others) > 0 && len(fromPatch) > 0 {
		a, b := others[0], fromPatch[0]
		if a.isBefore && b.isBefore && a.before < b.before {
			all, others = append(all, a.item), others[1:]
		} else {
			all, fromPatch = append(all, b.item), fromPatch[1:]
		}
	}
	for _, rest := range [][]arranged{others, fromPatch} {
		for _, a := range rest {
			all = append(all, a.item)
		}
	}
	return all
}

// places are the first places of scalars in a list.
type places map[any]int

func (p places) of(value any) (at int, ok bool) {
	if isScalar(value) {
		at, ok = p[value]
	}
	return at, ok
}

func (p places) add(value any, at int) {
	if _, ok := p.of(value); !ok && isScalar(value) {
		p[value] = at
	}
}

// keysOf returns the places of the keys of objects, each of which must have one, or of scalars.
func keysOf(list []any, key string, objects bool) (places, error) {
	if objects {
		for _, item := range list {
			if _, err := keyOf(item, key); err != nil {
				return nil, err
			}
		}
	}
	return placesOf(list, key, objects), nil
}

func placesOf(list []any, key string, objects bool) places {
	found := make(places, len(list))
	for at, item := range list {
		if !objects {
			found.add(item, at)
		} else if value, ok := item.(map[string]any)[key]; ok {
			found.add(value, at)
		}
	}
	return found
}

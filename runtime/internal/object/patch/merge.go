package patch

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/mergepatch"
)

// The directives of strategic merge patches, which are members of objects. The last two are followed by a slash and the
// name of a list: strategic-merge-patch.md of Kubernetes' SIG API Machinery says what they do, and strategicpatch of
// apimachinery, with which the tests compare, what else happens.
const (
	directive       = "$patch"
	retainDirective = "$retainKeys"
	orderDirective  = "$setElementOrder"
	deleteDirective = "$deleteFromPrimitiveList"
)

// errUnmergeable is the error of a list whose items can't be told from each other, such as one that begins with null.
var errUnmergeable = errors.New("the patch can't be applied to this object")

// mergeObject merges a patch into an object, and returns the result. It changes both.
func mergeObject(object, patch map[string]any, rules Rules) (map[string]any, error) {
	if d, ok := patch[directive]; ok {
		switch d {
		case "replace":
			delete(patch, directive)
			return patch, nil
		case "delete":
			return map[string]any{}, nil
		}
		return nil, mergepatch.ErrBadPatchType(d, patch)
	}
	if object == nil {
		object = map[string]any{}
	}
	if err := retainKeys(object, patch); err != nil {
		return nil, err
	}
	if err := mergeOrdered(object, patch, rules); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		if err := mergeMember(object, name, patch[name], rules); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// retainKeys drops the members of an object that the directive of a patch doesn't name. All other members of the patch
// must be named.
func retainKeys(object, patch map[string]any) error {
	value, ok := patch[retainDirective]
	if !ok {
		return nil
	}
	delete(patch, retainDirective)
	names, ok := value.([]any)
	if !ok {
		return mergepatch.ErrBadPatchFormatForRetainKeys
	}
	retained := setOf(names)
	for name, value := range patch {
		isDirective := strings.HasPrefix(name, deleteDirective) || strings.HasPrefix(name, orderDirective)
		if value != nil && !isDirective && !retained[name] {
			return mergepatch.ErrBadPatchFormatForRetainKeys
		}
	}
	for name := range object {
		if !retained[name] {
			delete(object, name)
		}
	}
	return nil
}

// mergeMember merges one member of a patch.
func mergeMember(object map[string]any, name string, value any, rules Rules) (err error) {
	deletes := strings.HasPrefix(name, deleteDirective)
	if deletes {
		list, err := listOf(name, mergepatch.ErrBadPatchFormatForPrimitiveList)
		if err != nil {
			return err
		}
		name = cmp.Or(list, name)
	}
	if value == nil {
		delete(object, name)
		return nil
	}
	old, ok := object[name]
	if !ok || reflect.TypeOf(old) != reflect.TypeOf(value) {
		if !deletes {
			setMember(object, name, value)
		}
		return nil
	}
	merged := value
	switch value := value.(type) {
	case map[string]any:
		merged, err = mergeObjects(old.(map[string]any), value, name, rules)
	case []any:
		var items Rules
		var s strategy
		if items, s, err = rules.items(name); err == nil && (s.merge || deletes) {
			merged, err = mergeList(old.([]any), value, items, s.key, deletes)
		}
	}
	if err == nil {
		object[name] = merged
	}
	return err
}

func mergeObjects(old, value map[string]any, name string, rules Rules) (map[string]any, error) {
	member, s, err := rules.member(name)
	if err != nil || s.replace {
		return value, err
	}
	return mergeObject(old, value, member)
}

// listOf returns the name of the list that a directive is about.
func listOf(member string, malformed error) (string, error) {
	word, name, ok := strings.Cut(member, "/")
	if !ok || word != deleteDirective && word != orderDirective {
		return "", malformed
	}
	return name, nil
}

// setMember sets a member that the object doesn't have, or has with another type.
func setMember(object map[string]any, name string, value any) {
	dropNulls(value)
	if value, ok := withoutDirectives(value); ok {
		object[name] = value
	} else {
		delete(object, name)
	}
}

// dropNulls removes all members that are null from a value.
func dropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if member == nil {
				delete(value, name)
			} else {
				dropNulls(member)
			}
		}
	case []any:
		for _, item := range value {
			dropNulls(item)
		}
	}
}

// withoutDirectives returns a value without the objects that have the directive $patch, and false if it is one.
func withoutDirectives(value any) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		if _, ok := value[directive]; ok {
			return nil, false
		}
		for name, member := range value {
			if kept, ok := withoutDirectives(member); ok {
				value[name] = kept
			} else {
				delete(value, name)
			}
		}
	case []any:
		kept := make([]any, 0, len(value))
		for _, item := range value {
			if item, ok := withoutDirectives(item); ok {
				kept = append(kept, item)
			}
		}
		return kept, true
	}
	return value, true
}

// mergeOrdered merges the lists of a patch for which it has the directive $setElementOrder, and removes them from it.
func mergeOrdered(object, patch map[string]any, rules Rules) error {
	for _, member := range slices.Sorted(maps.Keys(patch)) {
		if !strings.HasPrefix(member, orderDirective) {
			continue
		}
		value := patch[member]
		delete(patch, member)
		order, ok := value.([]any)
		if !ok {
			return mergepatch.ErrBadArgType(order, value)
		}
		name, err := listOf(member, mergepatch.ErrBadPatchFormatForSetElementOrderList)
		if err != nil {
			return err
		}
		if err := mergeInOrder(object, patch, name, order, rules); err != nil {
			return err
		}
	}
	return nil
}

// mergeInOrder merges a list of a patch that may be missing, and brings the result into an order.
func mergeInOrder(object, patch map[string]any, name string, order []any, rules Rules) error {
	old, inObject, err := listMember(object, name)
	if err != nil {
		return err
	}
	added, inPatch, err := listMember(patch, name)
	if err != nil {
		return err
	}
	items, s, err := rules.items(name)
	if err != nil {
		return err
	}
	if err := checkOrder(added, order, s.key); err != nil {
		return err
	}
	merged := old
	switch {
	case !inObject && !inPatch:
		return nil
	case !inObject:
		kept, _ := withoutDirectives(added)
		merged = kept.([]any)
	case inPatch && s.merge:
		if merged, err = mergeList(old, added, items, s.key, false); err != nil {
			return err
		}
	case inPatch:
		merged = added
	}
	if s.key == "" && !scalars(merged, order) {
		return errUnmergeable
	}
	if _, err := keysOf(merged, s.key, s.key != ""); err != nil {
		return err
	}
	objects, err := haveObjects(old, added)
	if err != nil {
		return err
	}
	if object[name], err = arrange(merged, order, old, s.key, objects); err == nil {
		delete(patch, name)
	}
	return err
}

func listMember(object map[string]any, name string) (list []any, ok bool, err error) {
	value, ok := object[name]
	if !ok {
		return nil, false, nil
	}
	if list, ok = value.([]any); !ok {
		return nil, false, mergepatch.ErrBadArgType(list, value)
	}
	return list, true, nil
}

// checkOrder fails if the items of a patch's list are not in the order that the patch wants.
func checkOrder(items, order []any, key string) error {
	if len(items) == 0 || len(order) == 0 {
		return nil
	}
	at := 0
	for _, item := range items {
		object, ok := item.(map[string]any)
		if key != "" && !ok {
			return mergepatch.ErrBadArgType(object, item)
		}
		if d, ok := object[directive]; ok && (d == "delete" || at < len(order)) {
			continue
		}
		for found := false; !found; at++ {
			if at == len(order) {
				return fmt.Errorf("The order in patch list:\n%v\n doesn't match %s list:\n%v\n", items, orderDirective,
					order)
			}
			var err error
			if found, err = sameItem(item, order[at], key); err != nil {
				return err
			}
		}
	}
	return nil
}

func sameItem(a, b any, key string) (bool, error) {
	if key == "" {
		return a == b, nil
	}
	left, err := keyOf(a, key)
	if err != nil {
		return false, err
	}
	right, err := keyOf(b, key)
	return left == right, err
}

// keyOf returns the member that identifies an item.
func keyOf(item any, key string) (any, error) {
	object, ok := item.(map[string]any)
	if !ok {
		return nil, mergepatch.ErrBadArgType(object, item)
	}
	value, ok := object[key]
	if !ok {
		return nil, mergepatch.ErrNoMergeKey(object, key)
	}
	return value, nil
}

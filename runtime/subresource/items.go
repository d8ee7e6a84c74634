package subresource

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Items pairs the items of two lists that have the same key. Generated code copies items' parts by it. It takes time
// that grows with the lengths of the lists, which clients choose, and not with their product. Of items of from with one
// key, it takes the first.
func Items[E any, K comparable](from, to []E, key func(*E) K) iter.Seq2[*E, *E] {
	return func(yield func(from, to *E) bool) {
		byKey := make(map[K]*E, len(from))
		for i := range slices.Backward(from) {
			byKey[key(&from[i])] = &from[i]
		}
		for i := range to {
			if same := byKey[key(&to[i])]; same != nil && !yield(same, &to[i]) {
				return
			}
		}
	}
}

// SameItems reports items of a list, at a path, that aren't those of the old one in the same order. name is the field
// that tells them apart, and key returns its value. Generated code calls it for a part that is below the items.
func SameItems[E any, K comparable](path *field.Path, name string, items, old []E, key func(*E) K) field.ErrorList {
	if len(items) != len(old) {
		return field.ErrorList{field.Forbidden(path, "items may not be added or removed through this subresource")}
	}
	var errs field.ErrorList
	for i := range items {
		if key(&items[i]) != key(&old[i]) {
			errs = append(errs, field.Forbidden(path.Index(i).Child(name),
				"items may not be renamed or reordered through this subresource"))
		}
	}
	return errs
}

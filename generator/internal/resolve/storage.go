package resolve

import (
	"strings"

	"apigen.dev/generator/internal/model"
)

// resolveStoragePrefix decides where a resource's keys are. A prefix of any version holds for all versions.
func (b *groupBuilder) resolveStoragePrefix(r *model.Resource) {
	for _, rv := range r.Versions {
		k := rv.Type.Kind
		prefix := strings.ReplaceAll(k.StoragePrefix, "*", r.Plural)
		switch {
		case prefix == "":
		case k.WithoutStorage || r.WithoutStorage:
			b.errorf(k.StoragePrefixPos, "marker \"+apigen:storagePrefix\" says where %s is stored, and nothing is "+
				"stored of it", r.Kind)
		case r.StoragePrefix != "" && r.StoragePrefix != prefix:
			b.errorf(k.StoragePrefixPos, "kind %s is stored below %s here, but below %s in another version: all "+
				"versions share their keys", r.Kind, prefix, r.StoragePrefix)
		default:
			r.StoragePrefix = prefix
		}
	}
}

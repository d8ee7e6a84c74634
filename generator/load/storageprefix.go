package load

import (
	"regexp"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

var storagePrefixPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(/[a-z0-9]([a-z0-9.-]*[a-z0-9])?)*$`)

// storagePrefix reads where a kind's keys are.
func (b *builder) storagePrefix(k *model.Kind, ms marker.Markers) {
	m, ok := ms.Get("apigen:storagePrefix")
	if !ok {
		return
	}
	if !storagePrefixPattern.MatchString(m.Value) {
		b.errorf(m.Pos, "%q is no prefix of keys: it needs lower-case letters, digits, dots and dashes between single slashes, and none at its ends, as in deployments or services/specs", m.Value)
		return
	}
	k.StoragePrefix, k.StoragePrefixPos = m.Value, m.Pos
}

// resolveStoragePrefix decides where a resource's keys are. What any version says holds for all.
func (b *builder) resolveStoragePrefix(r *model.Resource) {
	for _, rv := range r.Versions {
		k := rv.Type.Kind
		switch {
		case k.StoragePrefix == "":
		case k.Virtual || r.Virtual():
			b.errorf(k.StoragePrefixPos, "marker \"+apigen:storagePrefix\" says where %s is stored, and nothing is stored of it", r.Kind)
		case r.StoragePrefix != "" && r.StoragePrefix != k.StoragePrefix:
			b.errorf(k.StoragePrefixPos, "kind %s is stored below %s here, but below %s in another version: all versions share their keys", r.Kind, k.StoragePrefix, r.StoragePrefix)
		default:
			r.StoragePrefix = k.StoragePrefix
		}
	}
}

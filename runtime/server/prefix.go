package server

import (
	"errors"
	"fmt"
	"strings"

	"apigen.dev/runtime/registry"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// checkPrefixes refuses resources whose storage prefixes contain one another.
func checkPrefixes(groups []registry.Group) error {
	type storagePrefix struct {
		prefix   string
		resource schema.GroupResource
	}
	var taken []storagePrefix
	var errs []error
	for _, group := range groups {
		for _, resource := range group.Resources {
			info := resource.Info()
			if info.Storage == "" {
				continue
			}
			keys := storagePrefix{info.StoragePrefix + "/", info.GroupResource()}
			for _, other := range taken {
				if strings.HasPrefix(keys.prefix, other.prefix) || strings.HasPrefix(other.prefix, keys.prefix) {
					errs = append(errs, fmt.Errorf("the keys of %s, below %s, would be among those of %s, below %s: "+
						"give one another +apigen:storagePrefix",
						keys.resource, keys.prefix, other.resource, other.prefix))
				}
			}
			taken = append(taken, keys)
		}
	}
	return errors.Join(errs...)
}

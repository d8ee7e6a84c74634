package server

import (
	"errors"
	"fmt"
	"strings"

	"apigen.dev/runtime/registry"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// checkPrefixes refuses resources whose keys would be among those of others.
func checkPrefixes(groups []registry.Group) error {
	type place struct {
		prefix string
		of     schema.GroupResource
	}
	var taken []place
	var errs []error
	for _, group := range groups {
		for _, resource := range group.Resources {
			info := resource.Info()
			if info.Storage == "" {
				continue
			}
			is := place{info.StoragePrefix + "/", info.GroupResource()}
			for _, other := range taken {
				if strings.HasPrefix(is.prefix, other.prefix) || strings.HasPrefix(other.prefix, is.prefix) {
					errs = append(errs, fmt.Errorf("the keys of %s, below %s, would be among those of %s, below %s: give one another +apigen:storagePrefix",
						is.of, is.prefix, other.of, other.prefix))
				}
			}
			taken = append(taken, is)
		}
	}
	return errors.Join(errs...)
}

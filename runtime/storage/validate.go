package storage

import (
	"fmt"
	"strings"
)

// Validate returns an error for a request that no backend accepts: a From outside of the prefix, or a number below 0.
func (r RangeRequest) Validate() error {
	switch {
	case r.From != "" && !strings.HasPrefix(r.From, r.Prefix):
		return fmt.Errorf("range: from %q does not begin with the prefix %q", r.From, r.Prefix)
	case r.Limit < 0:
		return fmt.Errorf("range of %q: the limit must not be negative, got %d", r.Prefix, r.Limit)
	case r.Revision < 0:
		return fmt.Errorf("range of %q: the revision must not be negative, got %d", r.Prefix, r.Revision)
	}
	return nil
}

// ValidateWatch returns an error for a revision after which no backend can begin a watch.
func ValidateWatch(after int64) error {
	if after < 0 {
		return fmt.Errorf("watch: the revision must not be negative, got %d", after)
	}
	return nil
}

package faults

import (
	"errors"
	"fmt"
	"sort"
)

// listing is a list and its answer.
type listing struct {
	consistent bool // resourceVersion was not set
	call       int64
	revision   int64
	items      map[string]version
}

// checkLists holds lists against the log.
func checkLists(l *log, lists []*listing, operations []*operation) error {
	var errs []error
	acknowledged := floor(operations)
	for _, list := range lists {
		want := l.at(list.revision)
		for name, v := range want {
			if got := list.items[name]; got != v {
				errs = append(errs, fmt.Errorf("a list at revision %d has %s as %+v, the log %+v", list.revision,
					name, got, v))
			}
		}
		for name, v := range list.items {
			if _, known := want[name]; !known {
				errs = append(errs, fmt.Errorf("a list at revision %d has %s as %+v, which the log doesn't have",
					list.revision, name, v))
			}
		}
		if least := acknowledged(list.call); list.consistent && list.revision < least {
			errs = append(errs, fmt.Errorf("a consistent list is of revision %d, and %d had been answered before it "+
				"was asked for", list.revision, least))
		}
	}
	return errors.Join(errs...)
}

// floor returns the highest revision that was answered before a time.
func floor(operations []*operation) func(time int64) int64 {
	type answered struct{ time, revision int64 }
	var all []answered
	for _, o := range operations {
		if o.succeeded() && o.answer.revision > 0 {
			all = append(all, answered{o.end, o.answer.revision})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].time < all[j].time })
	for i := 1; i < len(all); i++ {
		all[i].revision = max(all[i].revision, all[i-1].revision)
	}
	return func(time int64) int64 {
		i := sort.Search(len(all), func(i int) bool { return all[i].time >= time })
		if i == 0 {
			return 0
		}
		return all[i-1].revision
	}
}

package frontproxy

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// further are headers that are removed from requests although nobody reads them here.
type further struct {
	adding  sync.Mutex // serializes add
	headers atomic.Pointer[Headers]
}

// maxFurther bounds the names: whoever may write the ConfigMap that publishes them may add some.
const maxFurther = 100

func (f *further) add(headers Headers) {
	f.adding.Lock()
	defer f.adding.Unlock()
	var now Headers
	if known := f.headers.Load(); known != nil {
		now = Headers{Username: slices.Clone(known.Username), ExtraPrefixes: slices.Clone(known.ExtraPrefixes)}
	}
	before := len(now.Username) + len(now.ExtraPrefixes)
	for _, names := range [][]string{headers.Username, headers.UID, headers.Group} {
		now.Username = addNames(now.Username, names, maxFurther-len(now.ExtraPrefixes))
	}
	now.ExtraPrefixes = addNames(now.ExtraPrefixes, headers.ExtraPrefixes, maxFurther-len(now.Username))
	if len(now.Username)+len(now.ExtraPrefixes) > before {
		f.headers.Store(&now)
	}
}

// addNames adds names of headers to some, up to a number of them.
func addNames(to, names []string, most int) []string {
	for _, name := range names {
		name = http.CanonicalHeaderKey(name)
		if len(to) < most && len(name) > len("X-") && strings.HasPrefix(name, "X-") && !slices.Contains(to, name) {
			to = append(to, name)
		}
	}
	return to
}

func (f *further) remove(header http.Header) {
	if headers := f.headers.Load(); headers != nil {
		headers.remove(header)
	}
}

package endpoint

import (
	"net/url"
	"strings"
	"sync"
)

// queries has empty maps for the options of requests. To read ?resourceVersion=0 into one takes a third of the time of
// url.URL.Query.
var queries = sync.Pool{New: func() any { return url.Values{} }}

const (
	// maxQuery is the largest query, in bytes, that isn't left to net/url, which bounds the number of options.
	maxQuery = 256
	// maxKept is the largest number of options of which a map is kept.
	maxKept = 16
)

// queryOf returns the options of a request, as url.URL.Query does: without those that can't be read.
func queryOf(u *url.URL) url.Values {
	if len(u.RawQuery) > maxQuery {
		return u.Query()
	}
	values := queries.Get().(url.Values)
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		if pair != "" && nameErr == nil && valueErr == nil && !strings.Contains(pair, ";") {
			values[name] = append(values[name], value)
		}
	}
	return values
}

// releaseQuery gives the map of the options back. It comes when the request is served: what reads options copies their
// values, but the handler of an extension may keep the map.
func (req *resourceRequest) releaseQuery() {
	if req.query != nil && req.extension == nil && len(req.query) <= maxKept {
		clear(req.query)
		queries.Put(req.query)
	}
	req.query = nil
}

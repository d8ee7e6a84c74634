package filter

import (
	"net/http"
	"sync/atomic"
	"time"
)

// dated is the value of the header Date for a second. It is never changed.
type dated struct {
	second int64
	values []string
}

// lastDate is the value that the last answer got: net/http makes one for each answer that has none.
var lastDate atomic.Pointer[dated]

// setDate sets the header Date (RFC 9110, section 6.6.1) of an answer that begins now, unless it has one.
func setDate(h http.Header, now time.Time) {
	if _, ok := h["Date"]; ok {
		return
	}
	last := lastDate.Load()
	if second := now.Unix(); last == nil || last.second != second {
		last = &dated{second, []string{now.UTC().Format(http.TimeFormat)}}
		lastDate.Store(last)
	}
	h["Date"] = last.values
}

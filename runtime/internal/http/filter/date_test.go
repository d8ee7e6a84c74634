package filter

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestDate: an answer has the time at which it begins, in the form of RFC 9110, unless its handler has set another one,
// or none.
func TestDate(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 999, time.FixedZone("", 3600))
	for _, row := range []struct {
		name string
		set  []string
		at   time.Time
		want string
	}{
		{"the time", nil, at, "Fri, 02 Jan 2026 02:04:05 GMT"},
		{"the same second", nil, at.Add(time.Microsecond), "Fri, 02 Jan 2026 02:04:05 GMT"},
		{"the next second", nil, at.Add(time.Second), "Fri, 02 Jan 2026 02:04:06 GMT"},
		{"an earlier second", nil, at, "Fri, 02 Jan 2026 02:04:05 GMT"},
		{"the handler's", []string{"x"}, at, "x"},
		{"none", []string{}, at, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := http.Header{}
			if row.set != nil {
				h["Date"] = row.set
			}
			setDate(h, row.at)
			if got := h.Get("Date"); got != row.want {
				t.Errorf("Date: %q, want %q", got, row.want)
			}
		})
	}
}

// TestDateOfAnswers: the date is that of the answer's begin, and not that of an informational one before it.
func TestDateOfAnswers(t *testing.T) {
	w := httptest.NewRecorder()
	Observe()(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		if date := w.Header().Get("Date"); date != "" {
			t.Errorf("early hints have the date %q", date)
		}
		w.WriteHeader(http.StatusOK)
	})).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if _, err := http.ParseTime(w.Header().Get("Date")); err != nil {
		t.Error(err)
	}
}

package matrix

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// settled returns the records of all requests until now. A server writes a record after the answer, so that settled
// asks something else until the records of that are there, and no request is under way.
func (w *world) settled(t testing.TB) map[string][]record {
	t.Helper()
	q := &question{request: []string{"GET /version"}}
	before := -1
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		id, _, err := w.ask(t, q, &row{who: "admin", how: firstProtocol})
		if err != nil {
			t.Fatal(err)
		}
		records, err := readRecords(w.auditLog)
		if err != nil {
			t.Fatal(err)
		}
		// Two rounds without a record but those of the rounds themselves: none is on its way.
		count := len(records)
		if started := unfinished(records); len(records[id]) > 0 && count == before+1 && len(started) == 0 {
			return records
		}
		before = count
	}
	records, err := readRecords(w.auditLog)
	if err != nil {
		t.Fatal(err)
	}
	t.Errorf("requests never end: %s", strings.Join(unfinished(records), " "))
	return records
}

// unfinished are the requests whose answer has begun and not ended.
func unfinished(records map[string][]record) []string {
	var ids []string
	for id, all := range records {
		last := all[len(all)-1]
		if last.Stage == "ResponseStarted" && last.ResponseStatus != nil && last.ResponseStatus.Code < 400 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

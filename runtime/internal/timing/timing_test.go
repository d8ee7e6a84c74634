package timing

import (
	"context"
	"testing"
	"time"
)

func TestRecord(t *testing.T) {
	type other struct{}
	record := New(context.WithValue(t.Context(), other{}, "x"))
	ctx, cancel := context.WithCancel(record)
	defer cancel()
	if From(ctx) != record || ctx.Value(other{}) != "x" || From(t.Context()) != nil {
		t.Error("the context does not carry the record, or hides what it had")
	}
	End(t.Context(), Storage, "get", time.Now()) // nobody records it
	var seen []Part
	began := time.Now().Add(-time.Minute)
	End(ctx, Storage, "get", began)
	record.Observe(func(p Part) { seen = append(seen, p) })
	End(ctx, Storage, "update", began)
	if spent := record.Spent(Storage); spent < 2*time.Minute || spent > 3*time.Minute {
		t.Errorf("in storage: %s", spent)
	}
	if record.Spent(Admission) != 0 {
		t.Error("time was spent in admission")
	}
	if len(seen) != 1 || seen[0].Detail != "update" || seen[0].Began != began || seen[0].Ended.Before(began) {
		t.Errorf("the observer saw %+v", seen)
	}
	for stage := range Stages {
		if stage.String() == "" {
			t.Errorf("stage %d has no name", stage)
		}
	}
}

package rendition

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

func TestAppendDurationIsHumanDuration(t *testing.T) {
	step := 1 * time.Millisecond
	for d := -3 * time.Second; d < 12*year; d += step {
		if got, want := string(appendDuration(nil, d)), duration.HumanDuration(d); got != want {
			t.Fatalf("%v: %s, want %s", d, got, want)
		}
		step += step / 64
		step = min(step, 3*time.Hour+time.Second)
	}
}

// TestAgeChanges: until the moment that AgeChanges returns, the age stays the same.
func TestAgeChanges(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	step := 100 * time.Millisecond
	for d := -3 * time.Second; d < 12*year; d += step {
		now := since.Add(d)
		changes := AgeChanges(since, now)
		before, last := string(AppendAge(nil, since, now)), string(AppendAge(nil, since, changes.Add(-1)))
		if !changes.After(now) || before != last {
			t.Fatalf("after %v: %s until %v, when it is %s already", d, before, changes.Sub(since), last)
		}
		if after := string(AppendAge(nil, since, changes)); d > 0 && after == before {
			t.Fatalf("after %v: %s changes after %v, and is the same", d, before, changes.Sub(since))
		}
		step += step / 64
		step = min(step, 3*time.Hour+time.Second)
	}
	if changes := AgeChanges(time.Time{}, since); changes.Before(since.Add(day)) {
		t.Errorf("no age changes after %v", changes.Sub(since))
	}
}

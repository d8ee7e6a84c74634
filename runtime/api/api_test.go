package api

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTextOf checks that a duration and a time are as in JSON, and that no time is no text.
func TestTextOf(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	for want, got := range map[string]string{
		"1h0m0s":               TextOf(metav1.Duration{Duration: time.Hour}),
		"2026-01-02T03:04:05Z": TextOf(&at),
		"":                     TextOf(metav1.Time{}),
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

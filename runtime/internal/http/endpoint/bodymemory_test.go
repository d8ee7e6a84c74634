package endpoint

import (
	"context"
	"net/http"
	"runtime/debug"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/http/headroom"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Where memory is short, large bodies are refused, whether or not their length is known before they are read. Nothing
// stays reserved for them.
func TestLargeBodiesNeedMemory(t *testing.T) {
	for _, test := range []struct {
		name      string
		limit     int64
		size      int
		chunked   bool
		exempt    bool
		isRefused bool
	}{
		{"enough memory", 4 << 30, 1 << 20, false, false, false},
		{"small", 1 << 20, smallBody, false, false, false},
		{"large", 1 << 20, smallBody + 1, false, false, true},
		{"large, of unknown length", 1 << 20, smallBody + 1, true, false, true},
		{"large, with more work than there is memory", 64 << 20, 2 << 20, false, false, true},
		{"large, of an administrator", 1 << 20, smallBody + 1, false, true, false},
	} {
		before := debug.SetMemoryLimit(test.limit)
		memory := headroom.New(func(context.Context) bool { return test.exempt })
		debug.SetMemoryLimit(before)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/x",
			strings.NewReader(strings.Repeat(" ", test.size)))
		if err != nil {
			t.Fatal(err)
		}
		if test.chunked {
			r.ContentLength = -1
		}
		a := &API{
			maxBody: 3 << 20, bodies: newBudget(maxBodyBytes), user: func(context.Context) string { return "bob" },
			memory: memory,
		}
		req := &resourceRequest{api: a, r: r}
		_, err = req.readBody()
		if apierrors.IsTooManyRequests(err) != test.isRefused || !test.isRefused && err != nil {
			t.Errorf("%s: got %v, want refused: %t", test.name, err, test.isRefused)
		}
		req.end()
		if a.bodies.free != maxBodyBytes {
			t.Errorf("%s: %d bytes of the budget for bodies are free at the end", test.name, a.bodies.free)
		}
	}
}

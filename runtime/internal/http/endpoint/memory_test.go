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

// limited returns the account of a process with a memory limit, in bytes.
func limited(limit int64, exempt bool) *headroom.Account {
	before := debug.SetMemoryLimit(limit)
	defer debug.SetMemoryLimit(before)
	return headroom.New(func(context.Context) bool { return exempt })
}

// What lists take, and what answers with them, counts if there is a limit.
func TestListsClaimMemory(t *testing.T) {
	const target = "/apis/shop.example.com/v1/namespaces/x/widgets"
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		for _, memory := range []*headroom.Account{nil, limited(4<<30, false)} {
			a, fakes := serve(t, widgets)
			a.memory = memory
			if w := do(a, method, target, ""); w.Code != http.StatusOK {
				t.Fatalf("%s: %d %s", method, w.Code, w.Body)
			}
			if got := fakes[0].list.Memory != nil; got != (memory != nil) {
				t.Errorf("%s: a claim is made: %t, want %t", method, got, memory != nil)
			}
		}
	}
}

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
		memory := limited(test.limit, test.exempt)
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

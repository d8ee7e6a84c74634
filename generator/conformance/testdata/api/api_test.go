package api

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/conformance/compare"
)

const rounds = 40

// TestCopies copies fuzzed objects of all kinds of k8s.io/api.
func TestCopies(t *testing.T) {
	mine, upstream := runtime.NewScheme(), runtime.NewScheme()
	for _, add := range ours {
		if err := add(mine); err != nil {
			t.Fatal(err)
		}
	}
	for _, add := range theirs {
		if err := add(upstream); err != nil {
			t.Fatal(err)
		}
	}
	kinds := 0
	for gvk, typ := range upstream.AllKnownTypes() {
		if !strings.HasPrefix(typ.PkgPath(), "k8s.io/api/") {
			continue // of apimachinery: the same in both
		}
		kinds++
		for seed := range int64(rounds) {
			a, err := mine.New(gvk)
			if err != nil {
				t.Fatal(err)
			}
			b, err := upstream.New(gvk)
			if err != nil {
				t.Fatal(err)
			}
			if problem := check(a, b, seed); problem != "" {
				t.Errorf("%s, seed %d: %s", gvk, seed, problem)
				break
			}
		}
	}
	if kinds < wantKinds {
		t.Errorf("%d kinds were compared, want %d", kinds, wantKinds)
	}
	t.Logf("%d kinds, %d objects of each", kinds, rounds)
}

func check(mine, upstream runtime.Object, seed int64) string {
	compare.Fill(seed, mine)
	compare.Fill(seed, upstream)
	if d := compare.Difference(mine, upstream); d != "" {
		return "the input differs: " + d
	}
	a, b := mine.DeepCopyObject(), upstream.DeepCopyObject()
	if d := compare.Difference(a, b); d != "" {
		return "copies differ: " + d
	}
	if d := compare.Difference(a, mine); d != "" {
		return "the copy differs from the original: " + d
	}
	if s := compare.Shared(mine, a); s != "" {
		return "shared: " + s
	}
	return ""
}

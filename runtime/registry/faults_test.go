package registry

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestFaultsAreBounded: an answer tells as many faults as somebody could read, and says that there are more.
func TestFaultsAreBounded(t *testing.T) {
	path := field.NewPath("metadata", "labels")
	for name, c := range map[string]struct {
		faults, size, told int
		message            string
	}{
		"few":       {3, 10, 3, ""},
		"many":      {300000, 100, maxFaults, " (and 299000 more faults)"},
		"large":     {20, 200 << 10, 6, " (and 14 more faults)"},
		"one large": {1, 3 << 20, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var errs field.ErrorList
			for i := range c.faults {
				errs = append(errs, field.Invalid(path, strings.Repeat("x", c.size-9)+fmt.Sprintf("%09d", i), "no"))
			}
			began := time.Now()
			var status apierrors.APIStatus
			if err := invalidObject(schema.GroupKind{Kind: "Widget"}, "a", errs); !errors.As(err, &status) || !apierrors.IsInvalid(err) {
				t.Fatal(err)
			}
			got := status.Status()
			if took := time.Since(began); took > 10*time.Second { // of a minute
				t.Error(took)
			}
			if len(got.Details.Causes) != c.told || !strings.HasSuffix(got.Message, c.message) || c.message == "" && strings.Contains(got.Message, "more faults") {
				t.Errorf("%d causes, ...%s", len(got.Details.Causes), got.Message[max(0, len(got.Message)-100):])
			}
		})
	}
	if err := invalidObject(schema.GroupKind{}, "a", nil); err != nil {
		t.Error(err)
	}
}

// TestCopiesAreLookedAtInTime: many copies on an object that is not small don't cost an encoding each, nor more than a bound.
func TestCopiesAreLookedAtInTime(t *testing.T) {
	object := []byte(`{"data":"` + strings.Repeat("x", 500<<10) + `","list":["` + strings.Repeat("y", 1000) + `"]}`)
	patch := func(copies int, from, to string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(`{"op":"copy","from":"`+from+`","path":"`+to+`"},`, copies), ",") + "]"
	}
	for _, c := range []struct {
		name, patch string
		refused     bool
	}{
		{"a few hundred small ones", patch(400, "/list", "/copy"), false},
		{"thousands", patch(9000, "/list", "/copy"), true},
		{"doubling", patch(40, "/list", "/list/-"), true},
		{"large ones", patch(30, "/data", "/list/-"), true},
		{"some large ones", patch(5, "/data", "/list/-"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _, err := newJSONPatch([]byte(c.patch), false)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			out, err := p.apply(object)
			if took := time.Since(began); took > 20*time.Second { // of two
				t.Error(took)
			}
			if refused := apierrors.IsRequestEntityTooLargeError(err); refused != c.refused || !refused && err != nil {
				t.Errorf("%d bytes, %v", len(out), err)
			}
		})
	}
}

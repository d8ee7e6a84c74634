package verb

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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
			var status apierrors.APIStatus
			if err := Invalid(schema.GroupKind{Kind: "Widget"}, "a", errs); !errors.As(err, &status) ||
				!apierrors.IsInvalid(err) {
				t.Fatal(err)
			}
			got := status.Status()
			if len(got.Details.Causes) != c.told || !strings.HasSuffix(got.Message, c.message) || c.message == "" &&
				strings.Contains(got.Message, "more faults") {
				t.Errorf("%d causes, ...%s", len(got.Details.Causes), got.Message[max(0, len(got.Message)-100):])
			}
		})
	}
	if err := Invalid(schema.GroupKind{}, "a", nil); err != nil {
		t.Error(err)
	}
}

package patch

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestCopiesAreLookedAtInTime: many copies on an object that is not small don't cost an encoding each, nor more than a
// bound.
func TestCopiesAreLookedAtInTime(t *testing.T) {
	object := []byte(`{"data":"` + strings.Repeat("x", 500<<10) + `","list":["` + strings.Repeat("y", 1000) + `"]}`)
	patch := func(copies int, from, to string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(`{"op":"copy","from":"`+from+`","path":"`+to+`"},`, copies),
			",") + "]"
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
			out, err := p.Apply(object)
			// It takes as long as 10 to 250 encodings; thousands would be one for each copy.
			if took, one := time.Since(began), encoding(t, object); took > 1500*one {
				t.Errorf("%s, as long as %d encodings of the object", took, took/one)
			}
			if refused := apierrors.IsRequestEntityTooLargeError(err); refused != c.refused || !refused && err != nil {
				t.Errorf("%d bytes, %v", len(out), err)
			}
		})
	}
}

// encoding returns how long it takes at present to decode and encode an object.
func encoding(t *testing.T, object []byte) time.Duration {
	t.Helper()
	const times = 10
	began := time.Now()
	for range times {
		var value any
		if err := json.Unmarshal(object, &value); err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(value); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(began) / times
}

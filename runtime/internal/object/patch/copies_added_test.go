package patch

import (
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// TestCopiesOfAnAddedValue: a patch that adds a large value and then doubles it is looked at before it takes gigabytes.
func TestCopiesOfAnAddedValue(t *testing.T) {
	operations, err := jsonpatch.DecodePatch([]byte(`[{"op":"add","path":"/a","value":["` +
		strings.Repeat("x", 1<<20) + `"]}` + strings.Repeat(`,{"op":"copy","from":"/a","path":"/a/-"}`, 40) + `]`))
	if err != nil {
		t.Fatal(err)
	}
	const addAndCopies = 1 + 3 // from 1 MiB to 8 MiB; the next copy could make more than maxUnseen
	if n := throughCopies(operations, len(`{}`)); n != addAndCopies {
		t.Errorf("%d operations are applied before the size is looked at, want %d", n, addAndCopies)
	}
}

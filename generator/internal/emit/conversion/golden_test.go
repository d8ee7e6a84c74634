package conversion

import (
	"testing"

	"apigen.dev/generator/internal/emit/emittest"
)

func TestGolden(t *testing.T) {
	emittest.Golden(t, emittest.Load(t, "./testdata/shop/...", "./testdata/flat/...", "./testdata/cross/...",
		"./testdata/methods/...", "./testdata/external/...", "./testdata/carry/...",
		"./testdata/prune/..."), Emitter())
}

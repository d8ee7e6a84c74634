package validation

import (
	"testing"

	"apigen.dev/generator/internal/emit/deepcopy"
	"apigen.dev/generator/internal/emit/emittest"
)

func TestGolden(t *testing.T) {
	emittest.Golden(t, emittest.Load(t, "./testdata/shop/..."), deepcopy.Emitter(), Emitter())
}

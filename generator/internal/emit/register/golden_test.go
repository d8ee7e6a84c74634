package register

import (
	"testing"

	"apigen.dev/generator/internal/emit/emittest"
)

func TestGolden(t *testing.T) {
	emittest.Golden(t, emittest.Load(t, "../defaults/internal/library/..."), Emitter())
}

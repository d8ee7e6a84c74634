package deepcopy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

// All that can't be copied is told at once, each at the user's line.
func TestRefusedSource(t *testing.T) {
	archive, err := os.ReadFile(filepath.FromSlash("testdata/refused.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := loadtest.Dir(t, string(archive))
	errs := Emitter().Faults(plan.New(loadtest.Load(t, dir).Program))
	source, err := os.ReadFile(filepath.Join(dir, "x", "types.go"))
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[int]string{}
	for i, line := range strings.Split(string(source), "\n") {
		if _, want, ok := strings.Cut(line, "// want: "); ok {
			wanted[i+1] = want
		}
	}
	for _, e := range errs {
		if filepath.Base(e.Pos.Filename) != "types.go" || wanted[e.Pos.Line] == "" ||
			!strings.Contains(e.Message, wanted[e.Pos.Line]) {
			t.Errorf("not wanted: %v", e)
		}
		delete(wanted, e.Pos.Line)
	}
	for line, want := range wanted {
		t.Errorf("types.go:%d: not refused: %s", line, want)
	}
}

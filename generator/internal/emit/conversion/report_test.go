package conversion

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"apigen.dev/generator/internal/emit/emittest"
	"apigen.dev/generator/internal/plan"
)

// TestReport: what is dropped, preserved, renamed, written by hand or narrower is told, and nothing else.
func TestReport(t *testing.T) {
	got := strings.Join(plan.New(emittest.Load(
		t, "./testdata/carry/...", "./testdata/methods/...", "./testdata/shop/...")).Report(), "\n")
	want, err := os.ReadFile("testdata/report.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
		t.Error(diff)
	}
}

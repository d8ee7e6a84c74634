package resolve_test

import (
	"testing"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/model"
)

// TestPackageMarkersCountBeforeTheirPackageIsRead: a type is met through a package that comes first by its path.
func TestPackageMarkersCountBeforeTheirPackageIsRead(t *testing.T) {
	p := loadtest.Program(t, `
-- a/doc.go --
// +k8s:deepcopy-gen=package
package a

import "example.com/test/b"

type Outer struct{ Inner *b.Inner }
-- b/doc.go --
// +k8s:deepcopy-gen=package
package b

type Inner struct{ Names []string }
`)
	if got := p.Packages[1].Type("Inner").DeepCopy; got != model.DeepCopyGenerate {
		t.Errorf("Inner is to be copied by %v", got)
	}
}

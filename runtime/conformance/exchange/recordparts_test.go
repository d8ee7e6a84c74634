//go:build record

package exchange

import (
	"strings"
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
)

// TestRecordParts asks kube-apiserver what the writes of subresources change that are parts of their object.
func TestRecordParts(t *testing.T) {
	theirs := startTheirs(t, etcdtest.Start(t))
	var rows []string
	for _, k := range readParts(t) {
		rows = append(rows, k.rows(t, theirs)...)
	}
	write(t, "testdata", "parts.txt", strings.Join(rows, "\n")+"\n")
}

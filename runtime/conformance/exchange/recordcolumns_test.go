//go:build record

package exchange

import (
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
)

// TestRecordColumns asks kube-apiserver for the columns of the kinds that examples/workloads serves.
func TestRecordColumns(t *testing.T) {
	recordKubectl(t, startTheirs(t, etcdtest.Start(t)), scripts(t, workloadsKubectl))
}

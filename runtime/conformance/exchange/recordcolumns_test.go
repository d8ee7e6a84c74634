//go:build record

package exchange

import "testing"

// TestRecordColumns asks kube-apiserver for the columns of the kinds that examples/workloads serves.
func TestRecordColumns(t *testing.T) {
	recordKubectl(t, startTheirs(t), scripts(t, workloadsKubectl))
}

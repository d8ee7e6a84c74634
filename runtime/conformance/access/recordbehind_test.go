//go:build record

package access

import (
	"os"
	"testing"
)

// TestRecordBehind asks kube-apiserver's aggregator, and writes down what it does.
func TestRecordBehind(t *testing.T) {
	w := newWorld(t, startCluster(t))
	t.Run("ask", w.ask)
	if t.Failed() {
		return
	}
	if err := os.WriteFile(behindRecord, []byte(w.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

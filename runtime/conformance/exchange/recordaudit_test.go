//go:build record

package exchange

import (
	"os"
	"path/filepath"
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
)

// TestRecordAudit asks kube-apiserver all that the scripts about audit hold, and writes its events into them.
func TestRecordAudit(t *testing.T) {
	policy, err := filepath.Abs(auditPolicy)
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "audit.log")
	theirs := startTheirs(t, etcdtest.Start(t), "--audit-policy-file="+policy, "--audit-log-path="+log,
		"--audit-log-mode=blocking-strict")
	for _, path := range scripts(t, "audit") {
		s := readScript(t, path)
		for _, scene := range s.scenes {
			a := theirs.enter(t, scene)
			for _, e := range scene.exchanges {
				e.theirs = a.audited(e, logFile(log))
			}
		}
		s.write(t)
	}
}

// logFile reads the log of another process.
func logFile(path string) func() []byte {
	return func() []byte {
		data, _ := os.ReadFile(path)
		return data
	}
}

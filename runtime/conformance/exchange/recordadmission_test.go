//go:build record

package exchange

import (
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
)

// TestRecordAdmission asks kube-apiserver what the scripts about admission hold.
func TestRecordAdmission(t *testing.T) {
	theirs := startTheirsWith(t, etcdtest.Start(t), nil)
	theirs.hook = startHook(t)
	for _, path := range scripts(t, admissionHTTP) {
		s := readScript(t, path)
		for _, scene := range s.scenes {
			a := theirs.enter(t, scene)
			for _, e := range scene.exchanges {
				e.theirs = a.ask(e.request)
			}
		}
		s.write(t)
	}
}

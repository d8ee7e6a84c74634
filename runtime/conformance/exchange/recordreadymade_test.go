//go:build record

package exchange

import (
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
)

// TestRecordReadymade asks kube-apiserver what the scripts about the ready-made groups hold.
func TestRecordReadymade(t *testing.T) {
	theirs := startTheirs(t, etcdtest.Start(t))
	for _, path := range scripts(t, readymadeHTTP) {
		s := readScript(t, path)
		for _, scene := range s.scenes {
			a := theirs.enter(t, scene)
			for _, e := range scene.exchanges {
				e.theirs = a.ask(e.request)
			}
		}
		s.write(t)
	}
	recordKubectl(t, theirs, scripts(t, readymadeKubectl))
}

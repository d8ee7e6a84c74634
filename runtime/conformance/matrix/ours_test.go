package matrix

import (
	"bufio"
	"context"
	"io"
	"regexp"
	"slices"
	"testing"

	"apigen.dev/runtime/builtin"
	audit "apigen.dev/runtime/builtin/auditlog"
	"apigen.dev/runtime/builtin/frontproxy"
	"apigen.dev/runtime/builtin/oidc"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
)

// inMemory is an embedded backend that forgets everything.
type inMemory struct {
	storage.Embedded
	backend storage.Backend
}

func (m *inMemory) Open(context.Context, string, storage.EmbeddedOptions) (storage.Backend, error) {
	return m.backend, nil
}

var servingPattern = regexp.MustCompile(`^serving https://(\S+)`)

// startOurs runs a server of ours by its command, with the flags that kube-apiserver gets.
func startOurs(t testing.TB, w *world) {
	t.Helper()
	dir := t.TempDir()
	w.backend = memory.New()
	flags := append(slices.Clone(worlds[w.name]), w.credentials(t, dir)...)
	// Roles alone decide who may read health checks, as with kube-apiserver.
	flags = append(flags, "--data-dir="+dir, "--secure-port=0", "--authorization-always-allow-paths=", withoutAdmission)
	command := server.Command(server.Program{
		Name: "matrix", Embedded: &inMemory{backend: w.backend},
		Features: append(builtin.Standalone(), &oidc.Feature{}, &frontproxy.Feature{}, &audit.Feature{}),
	})
	command.SetArgs(flags)
	output, told := io.Pipe()
	command.SetOut(told)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		err := command.ExecuteContext(ctx)
		told.CloseWithError(err)
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with: %v", err)
		}
	})
	lines := bufio.NewReader(output)
	for w.host == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the server does not start: %v", err)
		}
		if found := servingPattern.FindStringSubmatch(line); found != nil {
			w.host = found[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	w.populate(t)
}

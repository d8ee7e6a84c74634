package observability

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"time"

	"apigen.dev/runtime/internal/http/zpages"
)

// socket serves profiles and the level of the log without asking who wants them: when no request gets through, an
// administrator of the machine still can look inside.
type socket struct {
	listener net.Listener
	server   *http.Server
}

// listen opens a socket that only the user of the process can open.
func listen(path string, level *slog.LevelVar) (*socket, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		_ = os.Remove(path) // of a process that was killed; if it can't be removed, listening fails
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("--debug-socket-path: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	for path, handler := range zpages.Profiles() {
		mux.Handle(path, handler)
	}
	mux.Handle("/debug/flags/v", zpages.Level(level))
	return &socket{listener, &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}}, nil
}

// run serves until ctx ends.
func (s *socket) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.server.Close() }) // its clients notice
	defer stop()
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The paths at which administrators manage a backend inside the server.
const (
	spacePath    = "/storage/status"
	snapshotPath = "/storage/snapshot"
	defragPath   = "/storage/defrag"
	// snapshotRevision is a trailer. It follows a complete snapshot only.
	snapshotRevision = "Apigen-Revision"
)

// mastersOnly answers users in system:masters alone. A snapshot has all objects, secrets too: a right to read paths,
// such as that of a monitoring system to get all of them, must not give it.
func mastersOnly(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		attributes := auth.Attributes{User: auth.UserFrom(r.Context())}
		if decision, _, _ := (auth.MastersOnly{}).Authorize(r.Context(), attributes); decision != auth.Allow {
			respond.Error(w, r, apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf(
				"the path %q is for users in %s", r.URL.Path, auth.Masters)))
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// maintenance returns the handlers of a Maintainer. Its operations have no deadline, but a client that doesn't take a
// piece of a snapshot within timeout is dropped.
func maintenance(m storage.Maintainer, log *slog.Logger, timeout time.Duration) map[string]http.Handler {
	serve := func(method string, do func(ctx context.Context, w http.ResponseWriter) error) http.Handler {
		return byProgress(timeout, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != method {
				w.Header().Set("Allow", method)
				http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
				return
			}
			if err := do(context.WithoutCancel(r.Context()), w); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	}
	return map[string]http.Handler{
		spacePath: serve(http.MethodGet, func(ctx context.Context, w http.ResponseWriter) error {
			space, err := m.Space(ctx)
			if err != nil {
				return err
			}
			w.Header().Set("Content-Type", "application/json")
			return json.NewEncoder(w).Encode(space)
		}),
		defragPath: serve(http.MethodPost, func(ctx context.Context, _ http.ResponseWriter) error {
			return m.Defrag(ctx)
		}),
		snapshotPath: mastersOnly(serve(http.MethodGet, func(ctx context.Context, w http.ResponseWriter) error {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Trailer", snapshotRevision)
			revision, err := m.Snapshot(ctx, w)
			if err != nil {
				log.Error("a snapshot was not sent to its end", "error", err)
				panic(http.ErrAbortHandler) // the client must not take a part of the snapshot for the whole
			}
			w.Header().Set(snapshotRevision, strconv.FormatInt(revision, 10))
			return nil
		})),
	}
}

func byProgress(timeout time.Duration, handler http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		respond.ByProgress(w, r, handler, timeout)
	})
}

// remote is a client of the backend inside a running server.
type remote struct {
	client *http.Client
	server string // URL
}

var _ storage.Maintainer = (*remote)(nil)

func (r *remote) ask(ctx context.Context, method, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, r.server+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the running server: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4096)) // a part of the text is better than none
		_ = response.Body.Close()
		return nil, fmt.Errorf("the running server at %s answers %s: %s", r.server, response.Status, text)
	}
	return response, nil
}

func (r *remote) Space(ctx context.Context) (space storage.Space, err error) {
	response, err := r.ask(ctx, http.MethodGet, spacePath)
	if err != nil {
		return space, err
	}
	defer response.Body.Close()
	return space, json.NewDecoder(response.Body).Decode(&space)
}

func (r *remote) Defrag(ctx context.Context) error {
	response, err := r.ask(ctx, http.MethodPost, defragPath)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func (r *remote) Snapshot(ctx context.Context, w io.Writer) (int64, error) {
	response, err := r.ask(ctx, http.MethodGet, snapshotPath)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if _, err := io.Copy(w, response.Body); err != nil {
		return 0, fmt.Errorf("the running server at %s did not send all of the snapshot: %w", r.server, err)
	}
	revision, err := strconv.ParseInt(response.Trailer.Get(snapshotRevision), 10, 64)
	if err != nil {
		return 0, errors.New("the running server at " + r.server + " did not send all of the snapshot")
	}
	return revision, nil
}

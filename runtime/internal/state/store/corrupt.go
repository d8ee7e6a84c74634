package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A corrupt object is one whose stored value can't be opened by the transformer or decoded. It fails each read that
// covers it, by name, and nothing else; a client may watch for it, and delete it without reading it.

var (
	errSelectsCorrupt = errors.New("a watch that is told what can't be read selects nothing")
	errNotCorrupt     = errors.New("the object can be read: it is deleted without " +
		"ignoreStoreReadErrorWithClusterBreakingPotential")
)

// corruptError wraps err, which says why the value of a key is corrupt, once.
func corruptError(key string, err error) error {
	if errors.Is(err, cache.ErrCorrupt) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", cache.ErrCorrupt, key, err)
}

// corruptEvent is the event of a corrupt object, or of its removal. Its object has only the metadata that the key
// tells.
func (r *reader) corruptEvent(kind api.EventType, key string, revision int64) verb.Event {
	namespace, name := "", strings.TrimPrefix(key, r.prefix)
	if r.Namespaced {
		namespace, name, _ = strings.Cut(name, "/")
	}
	payload, err := json.Marshal(map[string]map[string]string{rendition.MetadataKey: {
		"namespace": namespace, "name": name, rendition.ResourceVersionKey: strconv.FormatInt(revision, 10),
	}})
	if err != nil {
		payload = []byte("{}") // strings can always be encoded
	}
	return verb.Event{Type: kind, Object: verb.Rendition{Payload: payload[1:]}}
}

// DeleteCorrupt removes a corrupt object, and only such a one: without preconditions, finalizers and hooks, since
// nobody can know what they would say. It removes the very value that it could not read.
func (s *Store[T]) DeleteCorrupt(ctx context.Context, key string, dryRun bool) error {
	full, err := s.key(key)
	if err != nil {
		return err
	}
	name := nameOf(key)
	kv, _, err := s.Backend.Get(ctx, full, storage.GetOptions{})
	for err == nil {
		if kv == nil {
			return apierrors.NewNotFound(s.gr, name)
		}
		switch _, readErr := s.stateOf(ctx, full, kv); {
		case readErr == nil:
			return apierrors.NewConflict(s.gr, name, errNotCorrupt)
		case ctx.Err() != nil:
			return s.Status(ctx.Err(), "delete", name)
		}
		if dryRun {
			return nil
		}
		_, err = s.Backend.Delete(ctx, full, kv.Revision)
		var conflict *storage.ConflictError
		if !errors.As(err, &conflict) {
			break
		}
		kv, err = conflict.Current, nil
	}
	if err != nil {
		return s.Status(fmt.Errorf("deleting an unreadable value: %w", err), "delete", name)
	}
	return nil
}

// maxListFailures is how many objects the error of one list names, as kube-apiserver's does.
const maxListFailures = 100

// listFailures are the objects that keep a list, or the state that a watch begins with, from being shown: all that it
// covers, so that an administrator who mends or removes them need not find them one request at a time. The zero value
// is none.
type listFailures struct {
	keys []string
	errs []error
	// corrupt reports whether one of them is corrupt; the others can't be converted to the form of the request.
	corrupt bool
}

// render renders an object in a form, or notes why it can't be rendered.
func (f *listFailures) render(o object, form verb.Form) (r verb.Rendition, ok bool) {
	r, err := o.Rendition(form)
	if err != nil {
		f.note(o, form, err)
	}
	return r, err == nil
}

// note notes why an object can't be rendered.
func (f *listFailures) note(o object, form verb.Form, err error) {
	if o.Err() != nil {
		f.corrupt, err = true, corruptError(o.Key(), err)
	} else {
		err = fmt.Errorf("%s can't be shown in version %s: %w", o.Key(), form.Version, err)
	}
	f.keys, f.errs = append(f.keys, o.Key()), append(f.errs, err)
}

func (f *listFailures) none() bool { return len(f.errs) == 0 }

// enough reports whether the read is given up.
func (f *listFailures) enough() bool { return len(f.errs) >= maxListFailures }

// err is nil if there is none, else a 500 which names each by its key. The reason is StorageReadError where one is
// corrupt.
func (f *listFailures) err(gr schema.GroupResource) error {
	if f.none() {
		return nil
	}
	reason := metav1.StatusReasonInternalError
	if f.corrupt {
		reason = metav1.StatusReasonStoreReadError
	}
	causes := make([]metav1.StatusCause, len(f.errs), len(f.errs)+1)
	for i, err := range f.errs {
		causes[i] = metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Field: f.keys[i],
			Message: err.Error()}
	}
	message := fmt.Sprintf("%s can't be listed: %v", gr, f.errs[0])
	if more := len(f.errs) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	if f.enough() {
		causes = append(causes, metav1.StatusCause{
			Type: metav1.CauseTypeTooMany, Message: "there may be more: the list was given up",
		})
	}
	return WithCause(&apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: reason,
		Message: message,
		Details: &metav1.StatusDetails{Group: gr.Group, Kind: gr.Resource, Name: "list", Causes: causes},
	}}, errors.Join(f.errs...))
}

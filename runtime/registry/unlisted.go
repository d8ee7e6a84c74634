package registry

import (
	"errors"
	"fmt"
	"net/http"

	"apigen.dev/runtime/api"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxUnlisted is how many values that can't be read or shown the answer to one list names, as kube-apiserver's does.
const maxUnlisted = 100

// unlisted are the values that keep a list, or the state that a watch begins with, from being shown: all that it covers,
// so that whoever mends or removes them need not find them one request at a time. The zero value is none.
type unlisted struct {
	keys []string
	errs []error
	// unread tells that one of them can't be read; the others can't be shown as they were asked for.
	unread bool
}

// add notes a value that can't be read, and tells whether there are enough.
func (u *unlisted) add(key string, err error) bool {
	u.unread = true
	return u.note(key, corrupt(key, err))
}

// unshown notes one that can be read and not be shown in a form, and tells whether there are enough.
func (u *unlisted) unshown(key string, form api.Form, err error) bool {
	return u.note(key, fmt.Errorf("%s can't be shown in version %s: %w", key, form.Version, err))
}

func (u *unlisted) note(key string, err error) bool {
	u.keys, u.errs = append(u.keys, key), append(u.errs, err)
	return len(u.errs) >= maxUnlisted
}

func (u *unlisted) none() bool { return len(u.errs) == 0 }

// err is nil where there is none, else a 500 which names each by its key. The reason is StorageReadError where one can't be
// read.
func (u *unlisted) err(gr schema.GroupResource) error {
	if u.none() {
		return nil
	}
	reason := metav1.StatusReasonInternalError
	if u.unread {
		reason = metav1.StatusReasonStoreReadError
	}
	causes := make([]metav1.StatusCause, len(u.errs), len(u.errs)+1)
	for i, err := range u.errs {
		causes[i] = metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Field: u.keys[i], Message: err.Error()}
	}
	message := fmt.Sprintf("%s can't be listed: %v", gr, u.errs[0])
	if more := len(u.errs) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	if len(u.errs) >= maxUnlisted {
		causes = append(causes, metav1.StatusCause{
			Type: metav1.CauseTypeTooMany, Message: "there may be more: the list was given up",
		})
	}
	return because(&apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: reason,
		Message: message,
		Details: &metav1.StatusDetails{Group: gr.Group, Kind: gr.Resource, Name: "list", Causes: causes},
	}}, errors.Join(u.errs...))
}

package registry

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxUnlisted is how many values that can't be read the answer to one list names, as kube-apiserver's does.
const maxUnlisted = 100

// unlisted are the values that a list could not read: all that its page covers, so that whoever mends or removes them
// need not find them one list at a time. The zero value is none.
type unlisted struct {
	keys []string
	errs []error
}

// add tells whether there are enough.
func (u *unlisted) add(key string, err error) bool {
	u.keys, u.errs = append(u.keys, key), append(u.errs, corrupt(key, err))
	return len(u.errs) >= maxUnlisted
}

// err is nil where there is none, else a 500 with the reason StorageReadError, which names each by its key.
func (u *unlisted) err(gr schema.GroupResource) error {
	if len(u.errs) == 0 {
		return nil
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
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonStoreReadError,
		Message: message,
		Details: &metav1.StatusDetails{Group: gr.Group, Kind: gr.Resource, Name: "list", Causes: causes},
	}}, errors.Join(u.errs...))
}

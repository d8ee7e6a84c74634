package codec

import apierrors "k8s.io/apimachinery/pkg/api/errors"

// quoting is an error whose text repeats an object, or a part of it, as kube-apiserver's does.
type quoting struct {
	*apierrors.StatusError
	unquoted string
}

// Unquoted returns the text without what it repeats of the object. Those use it who may tell that a request failed,
// and not what it was about, such as an audit log at level Metadata.
func (q *quoting) Unquoted() string { return q.unquoted }

// Unwrap makes the status known to errors.As.
func (q *quoting) Unwrap() error { return q.StatusError }

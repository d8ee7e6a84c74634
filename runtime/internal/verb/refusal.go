package verb

import (
	"encoding/hex"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Unrecognized returns the error for a body whose kind can't be decoded. It shows the first bytes, as text where the
// body begins like JSON, else in hexadecimal.
func Unrecognized(kind string, err error, body []byte) error {
	const most = 30
	begin, more := body[:min(len(body), most)], ""
	if len(body) > most {
		more = " ..."
	}
	shown := hex.EncodeToString(begin) + more
	switch {
	case len(body) == 0:
		shown = "<empty>"
	case body[0] == '{':
		shown = strings.ToValidUTF8(string(begin), "\ufffd") + more
	}
	unquoted := fmt.Sprintf("the object provided is unrecognized (must be of type %s)", kind)
	return Quoting(apierrors.NewBadRequest(fmt.Sprintf("%s: %v (%s)", unquoted, err, shown)), unquoted)
}

// maxFaults and maxFaultText bound the number and the bytes of the faults in an error: a body can have hundreds of
// thousands, and joining their texts takes quadratic time.
const (
	maxFaults    = 1000
	maxFaultText = 1 << 20
)

// Invalid returns the error for the faults of an object, without duplicates; nil if there are none.
func Invalid(kind schema.GroupKind, name string, errs field.ErrorList) error {
	said, size, more := map[string]bool{}, 0, 0
	var once field.ErrorList
	for _, e := range errs {
		if len(once) == maxFaults || size > maxFaultText {
			more++
			continue
		}
		if text := e.Error(); !said[text] {
			said[text], size = true, size+len(text)
			once = append(once, e)
		}
	}
	if len(once) == 0 {
		return nil
	}
	invalid := apierrors.NewInvalid(kind, name, once)
	if more > 0 {
		invalid.ErrStatus.Message += fmt.Sprintf(" (and %d more faults)", more)
	}
	return invalid
}

// Quoting returns an error whose text repeats an object, or a part of it. unquoted is the text without that.
func Quoting(err *apierrors.StatusError, unquoted string) error { return &quoting{err, unquoted} }

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

package patch

import (
	"fmt"

	"apigen.dev/runtime/internal/object/rendition"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// maxOperations bounds a JSON patch.
	maxOperations = 10000
	// maxCopied bounds by how much the copy operations of a patch may let an object grow, maxUnseen how large it may
	// become before that is looked at, and maxCopyWork what is spent on looking, which takes 30 ms for each MiB.
	maxCopied   = 3 << 20
	maxUnseen   = 16 << 20
	maxCopyWork = 64 << 20
	// maxPatchWork bounds what is spent on reading what nests deep.
	maxPatchWork = 256 << 20
)

type jsonOperations struct {
	operations jsonpatch.Patch
	copies     bool
}

// jsonPatchOp has a name that errors show.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

func newJSONPatch(data []byte, lax bool) (Patch, []error, error) {
	var known []jsonPatchOp
	strict, err := decode(data, &known, lax)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	for i, e := range strict {
		strict[i] = fmt.Errorf("json patch %w", e)
	}
	// The library reads a value again at each level that it goes down.
	if rendition.Nesting(data)*len(data) > maxPatchWork {
		return nil, nil, apierrors.NewRequestEntityTooLargeError("the JSON patch nests too deep for its size")
	}
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if len(operations) > maxOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(operations)))
	}
	p := &jsonOperations{operations: operations}
	for _, o := range known {
		p.copies = p.copies || o.Op == "copy"
	}
	return p, strict, nil
}

// Apply applies all operations at once, but for a patch with copies, each of which could double the object: there it
// stops behind so many copies as could make it too large, and looks at the size.
func (p *jsonOperations) Apply(object []byte) ([]byte, error) {
	limit, work := len(object)+maxCopied, 0
	for rest := p.operations; len(rest) > 0; {
		n := len(rest)
		if p.copies {
			n = throughCopies(rest, len(object))
		}
		var err error
		if object, err = applyOperations(rest[:n], object); err != nil {
			return nil, err
		}
		rest, work = rest[n:], work+len(object)
		if p.copies && (len(object) > limit || work > maxCopyWork) {
			return nil, apierrors.NewRequestEntityTooLargeError(
				"the copy operations of the JSON patch let the object grow too much")
		}
	}
	return object, nil
}

// throughCopies is how many operations can be applied to an object of a size before it could be larger than maxUnseen.
// One copy always can. A copy may double what earlier operations of the patch added, too.
func throughCopies(operations jsonpatch.Patch, size int) int {
	for i := range operations {
		if operations[i].Kind() != "copy" {
			if value := operations[i]["value"]; value != nil {
				size += len(*value)
			}
			continue
		}
		if size *= 2; 2*size > maxUnseen {
			return i + 1
		}
	}
	return len(operations)
}

func (*jsonOperations) Describe(object []byte) string { return string(object) }

func applyOperations(operations jsonpatch.Patch, object []byte) ([]byte, error) {
	return safely(func() ([]byte, error) {
		out, err := operations.Apply(object)
		if err != nil {
			return nil, unprocessable(err)
		}
		return out, nil
	})
}

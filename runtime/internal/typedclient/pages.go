package typedclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"apigen.dev/runtime/reach"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bounds are those of what another server answers. A zero field stands for its default.
type bounds struct {
	// pages and list bound the pages of a list, and its bytes. page bounds the bytes of one page or object.
	pages      int
	list, page int64
	// event bounds the bytes of an event of a watch.
	event int64
}

// The defaults of bounds, and the times that questions may take: one about a resource, and the list of all objects of a
// resource.
const (
	maxPages = 10_000
	maxList  = 1 << 30
	maxPage  = 16 << 20
	maxEvent = 16 << 20

	questionTime = 30 * time.Second
	listTime     = 5 * time.Minute
)

func (b bounds) withDefaults() bounds {
	return bounds{
		cmp.Or(b.pages, maxPages), cmp.Or(b.list, maxList), cmp.Or(b.page, maxPage), cmp.Or(b.event, maxEvent),
	}
}

// fewer is by what a page is divided that is too large.
const fewer = 8

// pages reads the metadata of all objects, a page at a time, while look wants more. A list without end is an error.
func (j Joined) pages(
	ctx context.Context, r reach.Resource, namespace string,
	look func(list *metav1.PartialObjectMetadataList) (more bool),
) error {
	bounds, limit, total := j.bounds.withDefaults(), page, int64(0)
	query := url.Values{}
	q := &question{method: http.MethodGet, path: j.path(r, namespace, ""), query: query, accept: metadataOnly}
	for pages := 0; pages < bounds.pages; {
		query.Set("limit", strconv.Itoa(limit))
		var list metav1.PartialObjectMetadataList
		size, err := j.answer(ctx, q, &list)
		total += size
		switch {
		case errors.Is(err, errLarge) && limit > 1:
			limit /= fewer
			limit = max(limit, 1)
			continue
		case errors.Is(err, errLarge):
			return fmt.Errorf("a page of the list of %s %w, even if it has one object", r.GroupResource, err)
		case err != nil:
			return err
		case total > bounds.list:
			return fmt.Errorf("the list of %s has more than %d bytes", r.GroupResource, bounds.list)
		case !look(&list) || list.Continue == "":
			return nil
		case list.Continue == query.Get("continue"):
			return fmt.Errorf("the list of %s doesn't go on: a page names itself as the next one", r.GroupResource)
		}
		query.Set("continue", list.Continue)
		pages++
	}
	return fmt.Errorf("the list of %s has more than %d pages", r.GroupResource, bounds.pages)
}

// errLarge is why an answer isn't read to its end.
var errLarge = errors.New("the answer is too large")

// largeError is errLarge with the bound.
type largeError struct{ bound int64 }

// Error implements error.
func (e largeError) Error() string { return fmt.Sprintf("has more than %d bytes", e.bound) }

// Is makes the error one with errLarge.
func (largeError) Is(target error) bool { return target == errLarge }

// allowance reads no more than it has left.
type allowance struct {
	io.Reader
	bound, left int64
}

// Read implements io.Reader.
func (a *allowance) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, largeError{a.bound}
	}
	n, err := a.Reader.Read(p[:min(int64(len(p)), a.left)])
	a.left -= int64(n)
	return n, err
}

// read decodes a body within a bound, and returns how many bytes it has read.
func read(body io.Reader, bound int64, out any) (int64, error) {
	bounded := &allowance{body, bound, bound}
	err := json.NewDecoder(bounded).Decode(out)
	return bounded.bound - bounded.left, err
}

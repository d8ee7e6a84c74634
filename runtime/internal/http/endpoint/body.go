package endpoint

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// maxDepth is the deepest nesting of a body, that of encoding/json.
const maxDepth = 10000

// maxErrorText bounds the text of an answer about the faults of a body. A body may have a fault in each line.
const maxErrorText = 4 << 10

// readBody reads the body up to the limit. It refuses a body with a larger Content-Length without reading it.
func (req *resourceRequest) readBody() ([]byte, error) {
	r := req.r
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		req.w.Header().Set("Accept-Encoding", "identity")
		return nil, negotiation.NewError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
			fmt.Sprintf("the body of the request has the content encoding %q - send it without any",
				truncate(encoding, 64)))
	}
	if r.ContentLength > req.api.maxBody {
		return nil, req.tooLarge()
	}
	if r.ContentLength > smallBody {
		if err := req.memory().Expect(r.ContentLength); err != nil {
			return nil, err
		}
	}
	var buffer bytes.Buffer
	// A client may send less than its Content-Length says.
	buffer.Grow(int(min(max(r.ContentLength, 0), 64<<10)) + bytes.MinRead)
	n, err := buffer.ReadFrom(io.LimitReader(r.Body, req.api.maxBody+1))
	var tooLarge *http.MaxBytesError
	switch {
	case n > req.api.maxBody || errors.As(err, &tooLarge):
		return nil, req.tooLarge()
	case errors.Is(err, io.ErrUnexpectedEOF): // when the connection ends, the context ends, too
		return nil, errHalfBody
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	case err != nil:
		return nil, errHalfBody
	}
	if r.ContentLength < 0 && n > smallBody {
		if err := req.memory().Hold(n); err != nil {
			return nil, err
		}
	}
	if strings.Contains(r.Header.Get("Content-Type"), "yaml") {
		n *= yamlFactor
	}
	return buffer.Bytes(), req.reserveBody(r.Context(), n)
}

var errHalfBody = apierrors.NewBadRequest("the body of the request could not be read to its end")

// tooLarge returns the error 413. It also makes the server close the connection, because nobody reads the rest of it.
func (req *resourceRequest) tooLarge() error {
	if req.r.ProtoMajor == 1 {
		req.w.Header().Set("Connection", "close")
	}
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", req.api.maxBody))
}

// readObject reads the body in the encoding of its format, and converts YAML to JSON. Duplicate keys of YAML are lost
// in JSON: they are faults of the request if validation is strict, and warnings if it warns.
func (req *resourceRequest) readObject(
	f negotiation.Format, validation string,
) (data []byte, warnings []string, err error) {
	if data, err = req.readBody(); err != nil {
		return nil, nil, err
	}
	if f == negotiation.YAML {
		text := data
		var strict error
		if data, warnings, strict, err = yamlToJSON(text, validation, req.api.maxBody); err != nil {
			return nil, nil, verb.Unrecognized(req.resourceInfo.Names.Kind, err, text)
		}
		if strict != nil {
			req.faults = append(req.faults, strict)
		}
	}
	if f.Encoding() != verb.JSON {
		return data, nil, nil // their decoders bound the depth themselves
	}
	return data, warnings, checkDepth(data)
}

// yamlToJSON converts a document whose size is at most limit after aliases are expanded. strict is the error that
// strict validation refuses; err means that the document is not YAML.
func yamlToJSON(data []byte, validation string, limit int64) (out []byte, warnings []string, strict, err error) {
	if err := checkAliases(data, limit); err != nil {
		return nil, nil, nil, errors.New(truncate(err.Error(), maxErrorText))
	}
	if validation != metav1.FieldValidationIgnore {
		if out, strict = yaml.YAMLToJSONStrict(data); strict == nil {
			return out, nil, nil, nil
		}
	}
	out, err = yaml.YAMLToJSON(data)
	switch {
	case err != nil:
		return nil, nil, nil, errors.New(truncate(err.Error(), maxErrorText))
	case strict == nil:
		return out, nil, nil, nil
	case validation == metav1.FieldValidationStrict:
		return out, nil, errors.New(truncate(strict.Error(), maxErrorText)), nil
	}
	return out, yamlWarnings(strict), nil, nil
}

// yamlWarnings returns the lines of an error about duplicate keys.
func yamlWarnings(err error) []string {
	lines := strings.Split(strings.TrimPrefix(truncate(err.Error(), maxErrorText), "yaml: unmarshal errors:\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// checkDepth refuses JSON that nests deeper than decoders allow. It checks nothing else.
func checkDepth(data []byte) error {
	if len(data) <= maxDepth || rendition.Nesting(data) <= maxDepth {
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the body of the request nests deeper than %d levels", maxDepth))
}

// readApply reads an apply patch. Decoding JSON as YAML would cost ten times as much.
func (req *resourceRequest) readApply(validation string) (data []byte, warnings []string, err error) {
	if data, err = req.readBody(); err != nil || len(data) == 0 {
		return []byte("{}"), nil, err // as in YAML, an empty patch is an object without fields
	}
	if err := checkDepth(data); err != nil {
		return nil, nil, err
	}
	var object map[string]any
	strict, err := json.UnmarshalStrict(data, &object)
	if err == nil && (len(strict) == 0 || validation == metav1.FieldValidationIgnore) && isYAMLText(data) {
		return data, nil, nil
	}
	data, warnings, refused, err := yamlToJSON(data, validation, req.api.maxBody)
	switch {
	case err != nil:
		return nil, nil, apierrors.NewBadRequest("error encoding patch: " + err.Error())
	case refused != nil:
		return nil, nil, apierrors.NewBadRequest(
			"error strict decoding patch: error converting YAML to JSON: " + refused.Error())
	}
	return data, warnings, checkDepth(data)
}

func cborToJSON(data []byte) ([]byte, error) {
	var object map[string]any
	if err := direct.Unmarshal(data, &object); err != nil {
		return nil, apierrors.NewBadRequest("error decoding CBOR: " + truncate(err.Error(), maxErrorText))
	}
	out, err := stdjson.Marshal(object)
	if err != nil {
		return nil, apierrors.NewBadRequest("error converting CBOR to JSON: " + truncate(err.Error(), maxErrorText))
	}
	return out, checkDepth(out)
}

// Decoding, converting and encoding a body takes about workFactor times its size in memory, and twice as much for YAML.
// So the server bounds the sum of the sizes of the large bodies that it works on at once. Other large bodies wait, up
// to the deadlines of their requests, and the users who sent them take turns.
const (
	workFactor = 40
	// smallBody is the size up to which a body doesn't count.
	smallBody = 128 << 10
	// maxBodyBytes bounds the sum of the sizes. A single body may be larger.
	maxBodyBytes = 8 << 20
	// yamlFactor multiplies the size of a body in YAML.
	yamlFactor = 2
)

// reserveBody waits until the server may work on a body of that size. The body has been read, so that a slow client
// reserves nothing. releaseBody ends the reservation when the request's work is done, before anything is answered, so
// that a client that doesn't read its answer holds none either. A request that waits for a webhook loses it. Where
// memory is short, reserveBody refuses a body whose work takes more than its share.
func (req *resourceRequest) reserveBody(ctx context.Context, size int64) error {
	if size <= smallBody || req.reserved > 0 {
		return nil
	}
	work := workFactor * size
	size = min(size, maxBodyBytes)
	release, err := req.api.bodies.share(ctx, req.api.user(ctx), size)
	if err != nil {
		return apierrors.NewTooManyRequests("too many large requests are being worked on, please try again later", 1)
	}
	if err := req.memory().Expect(work); err != nil {
		release()
		return err
	}
	req.reserved, req.release = size, release
	return nil
}

func (req *resourceRequest) releaseBody() {
	if req.reserved > 0 {
		req.release()
		req.claim.GiveBack()
		req.reserved = 0
	}
}

package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// maxDepth is how deep a body may nest: what encoding/json takes.
const maxDepth = 10000

// maxReport bounds what an answer tells of a body's faults, of which a body may have as many as it has lines.
const maxReport = 4 << 10

// readBody reads at most the limit. A body that is announced to be longer is refused unread.
func (c *call) readBody() ([]byte, error) {
	r := c.r
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		c.w.Header().Set("Accept-Encoding", "identity")
		return nil, statusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
			fmt.Sprintf("the body of the request has the content encoding %q - send it without any", clip(encoding)))
	}
	if r.ContentLength > c.api.maxBody {
		return nil, c.tooLarge()
	}
	var buffer bytes.Buffer
	// The announced length is trusted for no more than this.
	buffer.Grow(int(min(max(r.ContentLength, 0), 64<<10)) + bytes.MinRead)
	n, err := buffer.ReadFrom(io.LimitReader(r.Body, c.api.maxBody+1))
	var tooLarge *http.MaxBytesError
	switch {
	case n > c.api.maxBody || errors.As(err, &tooLarge):
		return nil, c.tooLarge()
	case errors.Is(err, io.ErrUnexpectedEOF): // the connection's end ends the context, too
		return nil, errHalfBody
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	case err != nil:
		return nil, errHalfBody
	}
	if strings.Contains(r.Header.Get("Content-Type"), "yaml") {
		n *= yamlWeight
	}
	return buffer.Bytes(), c.weigh(r.Context(), n)
}

var errHalfBody = apierrors.NewBadRequest("the body of the request could not be read to its end")

// tooLarge also ends the connection: nobody will read the rest.
func (c *call) tooLarge() error {
	if c.r.ProtoMajor == 1 {
		c.w.Header().Set("Connection", "close")
	}
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", c.api.maxBody))
}

// inputFormat is the format of the body; JSON where the request doesn't say.
func inputFormat(r *http.Request, allow allowFormat) (format, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return formatJSON, nil
	}
	if mediaType, _, err := mime.ParseMediaType(header); err == nil {
		for f := range formats {
			if mediaType == formats[f].mediaType && allow(format(f), transform{}) {
				return format(f), nil
			}
		}
	}
	return 0, unsupportedMediaType(mediaTypes(allow)...)
}

// readObject reads the body in the encoding of its format, YAML as JSON. Keys that YAML has twice are lost in JSON: they are
// faults of the call where validation is strict, and warnings where it warns.
func (c *call) readObject(f format, validation string) (data []byte, warnings []string, err error) {
	if data, err = c.readBody(); err != nil {
		return nil, nil, err
	}
	if f == formatYAML {
		text := data
		data, warnings, err = yamlToJSON(text, validation, c.api.maxBody)
		var syntax *syntaxError
		if errors.As(err, &syntax) {
			return nil, nil, codec.Unrecognized(c.resource.info.Names.Kind, err, text)
		}
		if err != nil {
			c.faults = append(c.faults, err)
		}
	}
	if formats[f].encoding != api.JSON {
		return data, nil, nil // their decoders have bounds of their own
	}
	return data, warnings, checkDepth(data)
}

// body is what a handle is given of a body that was read.
func (c *call) body(f format, data []byte, validation string) api.Body {
	return api.Body{Version: c.version.Name, Encoding: formats[f].encoding, Data: data, Validation: validation, Faults: c.faults}
}

// syntaxError is what is no YAML.
type syntaxError struct{ text string }

func (e *syntaxError) Error() string { return e.text }

// yamlToJSON converts a document whose expansion is bounded by limit. A syntaxError is without data, any other error is
// what strict validation doesn't take.
func yamlToJSON(data []byte, validation string, limit int64) ([]byte, []string, error) {
	if err := checkAliases(data, limit); err != nil {
		return nil, nil, &syntaxError{clipTo(err.Error(), maxReport)}
	}
	var strict error
	if validation != metav1.FieldValidationIgnore {
		var out []byte
		if out, strict = yaml.YAMLToJSONStrict(data); strict == nil {
			return out, nil, nil
		}
	}
	out, err := yaml.YAMLToJSON(data)
	switch {
	case err != nil:
		return nil, nil, &syntaxError{clipTo(err.Error(), maxReport)}
	case strict == nil:
		return out, nil, nil
	case validation == metav1.FieldValidationStrict:
		return out, nil, errors.New(clipTo(strict.Error(), maxReport))
	}
	return out, yamlWarnings(strict), nil
}

// yamlWarnings are the lines of an error about duplicate keys.
func yamlWarnings(err error) []string {
	lines := strings.Split(strings.TrimPrefix(clipTo(err.Error(), maxReport), "yaml: unmarshal errors:\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// checkDepth refuses JSON that nests deeper than decoders go. It leaves all other judgement to them.
func checkDepth(data []byte) error {
	if len(data) <= maxDepth {
		return nil
	}
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch char := data[i]; {
		case inString && char == '\\':
			i++
		case char == '"':
			inString = !inString
		case inString:
		case char == '{' || char == '[':
			if depth++; depth > maxDepth {
				return apierrors.NewBadRequest(fmt.Sprintf("the body of the request nests deeper than %d levels", maxDepth))
			}
		case char == '}' || char == ']':
			depth--
		}
	}
	return nil
}

// readApply reads an apply patch. It reads JSON that is YAML, too, as JSON: reading it as YAML costs ten times as much.
func (c *call) readApply(validation string) (data []byte, warnings []string, err error) {
	if data, err = c.readBody(); err != nil || len(data) == 0 {
		return []byte("{}"), nil, err // what is empty applies nothing, as in YAML
	}
	if err := checkDepth(data); err != nil {
		return nil, nil, err
	}
	var object map[string]any
	strict, err := json.UnmarshalStrict(data, &object)
	if err == nil && (len(strict) == 0 || validation == metav1.FieldValidationIgnore) && isYAMLText(data) {
		return data, nil, nil
	}
	if data, warnings, err = applyToJSON(data, validation, c.api.maxBody); err != nil {
		return nil, nil, err
	}
	return data, warnings, checkDepth(data)
}

// applyToJSON is yamlToJSON with the texts of an apply.
func applyToJSON(data []byte, validation string, limit int64) ([]byte, []string, error) {
	if err := checkAliases(data, limit); err != nil {
		return nil, nil, apierrors.NewBadRequest("error encoding patch: " + clipTo(err.Error(), maxReport))
	}
	out, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest("error encoding patch: " + clipTo(err.Error(), maxReport))
	}
	if validation == metav1.FieldValidationIgnore {
		return out, nil, nil
	}
	_, strict := yaml.YAMLToJSONStrict(data)
	switch {
	case strict == nil:
		return out, nil, nil
	case validation == metav1.FieldValidationStrict:
		return nil, nil, apierrors.NewBadRequest("error strict decoding patch: error converting YAML to JSON: " + clipTo(strict.Error(), maxReport))
	}
	return out, yamlWarnings(strict), nil
}

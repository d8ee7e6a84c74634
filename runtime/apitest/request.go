package apitest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"sigs.k8s.io/yaml"
)

// request is one whose answer is an object. Without a method it is a GET. A body of bytes is sent as it is, others as
// JSON.
type request struct {
	method, path, accept, mediaType string
	body                            any
}

// send sends a request. It returns the answer, and what is wrong if it is not a success. An answer 5xx fails the test.
func (s *Server) send(t testing.TB, r request) (answer object, failure string) {
	t.Helper()
	data, failure := s.exchange(t, r)
	answer, err := decode(r.accept, data)
	switch {
	case failure != "":
		return answer, failure
	case err != nil:
		return nil, err.Error()
	}
	return answer, ""
}

// exchange is send for an answer that isn't decoded.
func (s *Server) exchange(t testing.TB, r request) (data []byte, failure string) {
	t.Helper()
	response, body := s.open(t, r)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode >= http.StatusInternalServerError {
		t.Errorf("%s %s: %d %s\nsent: %s", cmp.Or(r.method, http.MethodGet), r.path, response.StatusCode, data, body)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return data, fmt.Sprintf("%d %s", response.StatusCode, data)
	}
	return data, ""
}

// open sends a request. It returns the answer, whose body is to be closed, and what was sent.
func (s *Server) open(t testing.TB, r request) (*http.Response, []byte) {
	t.Helper()
	body, raw := r.body.([]byte)
	if r.body != nil && !raw {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			t.Fatal(err)
		}
	}
	sent, err := http.NewRequestWithContext(t.Context(), cmp.Or(r.method, http.MethodGet), s.URL+r.path,
		bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	sent.Header.Set("Content-Type", cmp.Or(r.mediaType, "application/json"))
	sent.Header.Set("Accept", cmp.Or(r.accept, "application/json"))
	response, err := s.Client.Do(sent)
	if err != nil {
		t.Fatal(err)
	}
	return response, body
}

// decode decodes an object, whose numbers are json.Number.
func decode(mediaType string, data []byte) (answer object, err error) {
	switch mediaType {
	case "application/yaml":
		data, err = yaml.YAMLToJSON(data)
	case "application/cbor":
		var value any
		if err = direct.Unmarshal(data, &value); err == nil {
			data, err = json.Marshal(value)
		}
	}
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return answer, decoder.Decode(&answer)
}

// samplesOf returns the objects in config/samples of the module in which a test runs.
func samplesOf(t testing.TB) (samples []object) {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "config", "samples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq("\n"+string(data), "\n---") {
			sample, err := decode("application/yaml", []byte(document))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if sample["kind"] != nil && sample["metadata"] != nil {
				samples = append(samples, sample)
			}
		}
	}
	return samples
}

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// messageLimit bounds an answer in bytes. A Secret has a megabyte at most.
const messageLimit = 4 << 20

// client reads and writes the two kinds of objects in the cluster.
type client struct {
	http   *http.Client
	server *url.URL
}

// secret is a Secret of the cluster. Its fields beside the data are kept as they are.
type secret struct {
	fields map[string]json.RawMessage
	data   map[string][]byte
}

func (c *client) secret(ctx context.Context, of name) (*secret, error) {
	s := &secret{data: map[string][]byte{}}
	if err := c.do(ctx, http.MethodGet, secretPath(of), "", nil, &s.fields); err != nil {
		return nil, err
	}
	if len(s.fields["data"]) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(s.fields["data"], &s.data); err != nil {
		return nil, err
	}
	if s.data == nil { // data: null
		s.data = map[string][]byte{}
	}
	return s, nil
}

// update writes a Secret that was read. It fails with a conflict if somebody wrote it in the meantime.
func (c *client) update(ctx context.Context, of name, s *secret) error {
	var err error
	if s.fields["data"], err = json.Marshal(s.data); err != nil {
		return err
	}
	return c.do(ctx, http.MethodPut, secretPath(of), "application/json", s.fields, nil)
}

func secretPath(of name) string { return "/api/v1/namespaces/" + of.namespace + "/secrets/" + of.name }

// apiService is what this package reads of an APIService.
type apiService struct {
	Spec struct {
		Service *struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"service"`
		CABundle []byte `json:"caBundle"`
		Insecure bool   `json:"insecureSkipTLSVerify"`
	} `json:"spec"`
}

func (c *client) apiService(ctx context.Context, name string) (*apiService, error) {
	s := &apiService{}
	return s, c.do(ctx, http.MethodGet, apiServicePath(name), "", nil, s)
}

// setBundle writes the authorities by which kube-apiserver knows the server, and nothing else.
func (c *client) setBundle(ctx context.Context, name string, bundle []byte) error {
	patch := map[string]any{"spec": map[string]any{"caBundle": bundle}}
	return c.do(ctx, http.MethodPatch, apiServicePath(name), "application/merge-patch+json", patch, nil)
}

func apiServicePath(name string) string { return "/apis/apiregistration.k8s.io/v1/apiservices/" + name }

// do sends a request, with a body unless it is nil, and reads the answer into out unless that is nil.
func (c *client) do(ctx context.Context, method, path, contentType string, body, out any) error {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.server.JoinPath(path).String(), bytes.NewReader(content))
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", contentType)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was opened for reading
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %w", method, path, statusOf(answer, response.Status))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// statusOf returns the error of a Status, or one with another message.
func statusOf(content []byte, otherwise string) error {
	var status metav1.Status
	if err := json.Unmarshal(content, &status); err == nil && status.Kind == "Status" && status.Message != "" {
		return &apierrors.StatusError{ErrStatus: status}
	}
	return errors.New(otherwise)
}

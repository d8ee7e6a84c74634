package delegated

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// configMap is where kube-apiserver writes whom servers behind its aggregator should believe.
const (
	namespace = "kube-system"
	configMap = "extension-apiserver-authentication"
)

const (
	// messageLimit bounds a list and an event in bytes. A ConfigMap has a megabyte at most.
	messageLimit = 4 << 20
	// A watch lasts between half of watchFor and watchFor, and afterwards the follower lists anew.
	watchFor = 10 * time.Minute
	// longestPause bounds the pause after failures.
	longestPause = 30 * time.Second
)

// follower reads the ConfigMap and watches it.
type follower struct {
	client *http.Client
	server *url.URL
	take   func(data map[string]string)
	log    *slog.Logger
	pause  time.Duration // after the first failure
}

type object struct {
	Metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
}

// run follows the ConfigMap until ctx ends.
func (f *follower) run(ctx context.Context) error {
	defer f.client.CloseIdleConnections()
	pause := f.pause
	for ctx.Err() == nil {
		began := time.Now()
		err := f.round(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			f.log.Warn("the cluster's authorities could not be followed", "configmap", configMap, "error", err)
		}
		if pause = min(2*pause, longestPause); time.Since(began) > longestPause {
			pause = f.pause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
	return ctx.Err()
}

// round reads the ConfigMap and watches it until the watch ends.
func (f *follower) round(ctx context.Context) error {
	revision, err := f.list(ctx)
	if err != nil {
		return err
	}
	return f.watch(ctx, revision)
}

// list takes the ConfigMap, if there is one, and returns the revision from which to watch.
func (f *follower) list(ctx context.Context) (revision string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	body, err := f.get(ctx, url.Values{})
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }() // it was opened for reading
	content, err := io.ReadAll(io.LimitReader(body, messageLimit))
	if err != nil {
		return "", err
	}
	var list struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Items []object `json:"items"`
	}
	if err := json.Unmarshal(content, &list); err != nil {
		return "", fmt.Errorf("the list of the ConfigMap %s: %w", configMap, err)
	}
	for _, item := range list.Items {
		f.found(item)
	}
	if len(list.Items) == 0 {
		f.log.Warn("the cluster has no authorities for this server", "configmap", configMap)
	}
	return list.Metadata.ResourceVersion, nil
}

// found takes the ConfigMap. A server that ignores field selectors sends others, too.
func (f *follower) found(o object) {
	if o.Metadata.Name == configMap {
		f.take(o.Data)
	}
}

// watch takes the ConfigMap at each change, until the watch ends.
func (f *follower) watch(ctx context.Context, revision string) error {
	lasts := watchFor/2 + rand.N(watchFor/2)
	ctx, cancel := context.WithTimeout(ctx, lasts+time.Minute)
	defer cancel()
	body, err := f.get(ctx, url.Values{
		"watch": {"true"}, "resourceVersion": {revision}, "timeoutSeconds": {fmt.Sprint(int(lasts / time.Second))},
	})
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it was opened for reading
	events := bufio.NewScanner(body)
	events.Buffer(nil, messageLimit)
	for events.Scan() {
		if err := f.event(events.Bytes()); err != nil {
			return err
		}
	}
	return events.Err()
}

func (f *follower) event(line []byte) error {
	var event struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return fmt.Errorf("an event of the watch: %w", err)
	}
	switch event.Type {
	case "ADDED", "MODIFIED":
		var o object
		if err := json.Unmarshal(event.Object, &o); err != nil {
			return fmt.Errorf("an event of the watch: %w", err)
		}
		f.found(o)
	case "ERROR":
		return statusOf(event.Object, "the watch failed")
	}
	return nil // what was deleted stays in use, as in kube-apiserver's own guests
}

// get sends a request for the ConfigMap, and returns the body of an answer of success.
func (f *follower) get(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	query.Set("fieldSelector", "metadata.name="+configMap)
	address := f.server.JoinPath("/api/v1/namespaces", namespace, "configmaps")
	address.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	response, err := f.client.Do(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(response.Body, messageLimit))
	if err != nil {
		return nil, err
	}
	err = statusOf(content, response.Status)
	if response.StatusCode == http.StatusForbidden {
		err = fmt.Errorf("%w: bind the role extension-apiserver-authentication-reader in %s to the user of this server",
			err, namespace)
	}
	return nil, err
}

// statusOf returns the error of a Status, or one with another message.
func statusOf(content []byte, otherwise string) error {
	var status metav1.Status
	if err := json.Unmarshal(content, &status); err == nil && status.Kind == "Status" && status.Message != "" {
		return &apierrors.StatusError{ErrStatus: status}
	}
	return errors.New("the ConfigMap " + namespace + "/" + configMap + ": " + otherwise)
}

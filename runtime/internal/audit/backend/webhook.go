package backend

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"apigen.dev/runtime/internal/audit/trail"
)

// Webhook is a Target that posts each batch as an EventList.
type Webhook struct {
	Client *http.Client
	URL    string
	// Timeout bounds one request; 0 is kube-apiserver's 30 s.
	Timeout time.Duration
}

// Append implements Target.
func (w Webhook) Append(b []byte, event *trail.Event) ([]byte, error) { return event.AppendJSON(b) }

const (
	defaultTimeout = 30 * time.Second
	listHead       = `{"kind":"EventList","apiVersion":"` + trail.Group + "/" + trail.Version +
		`","metadata":{},"items":[`
	// maxAnswer is how much the Backend reads of an answer, so that the connection can be used again.
	maxAnswer = 16 << 10
)

// Deliver implements Target.
func (w Webhook) Deliver(ctx context.Context, events [][]byte) error {
	timeout := w.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(list(events)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := w.Client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // the status says it all
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer))
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("the webhook answered %s", response.Status)
	}
	return nil
}

// list makes an EventList of events. As in all typed lists, its items have neither kind nor apiVersion.
func list(events [][]byte) []byte {
	size := len(listHead) + len("]}")
	for _, event := range events {
		size += len(event)
	}
	b := append(make([]byte, 0, size), listHead...)
	for i, event := range events {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, '{'), event[len(trail.Head):]...)
	}
	return append(b, "]}"...)
}

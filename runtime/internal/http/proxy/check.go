package proxy

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
)

// aggregator is the user of Check. Its group makes sure that every backend answers it.
var aggregator = &auth.User{Name: "system:kube-aggregator", Groups: []string{auth.Masters}}

const (
	// attempts is how often Check asks, at the same time: a service may have several addresses, of which one is enough.
	attempts = 5
	// attemptSlack is what an attempt may take beyond the bound of its request.
	attemptSlack = time.Second
)

// Check asks for the discovery document of a version, /apis/g/v, and returns nil if the backend answers with success
// within 5 seconds. It asks several times at once; one success is enough.
func (b *Backend) Check(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, b.discovery+attemptSlack)
	defer cancel() // ends the attempts that are not needed
	results := make(chan error, attempts)
	for range attempts {
		go func() { results <- b.attempt(ctx, path) }()
	}
	var err error
	for range attempts {
		select {
		case err = <-results:
			if err == nil {
				return nil
			}
		case <-ctx.Done():
			return fmt.Errorf("timed out waiting for service %s/%s: %w", b.config.Namespace, b.config.Name,
				context.Cause(ctx))
		}
	}
	return err
}

func (b *Backend) attempt(ctx context.Context, path string) error {
	r, err := b.newRequest(ctx, aggregator, path)
	if err != nil {
		return err
	}
	t, err := b.transports()
	if err != nil {
		return failing(r.URL, err)
	}
	addVia(r.Header, t.mark)
	client := &http.Client{
		Transport: t.requests, Timeout: b.discovery,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(r)
	b.report(response, err)
	if err == nil {
		_ = response.Body.Close() // the code says it all
		if response.StatusCode >= http.StatusOK && response.StatusCode < http.StatusMultipleChoices {
			return nil
		}
		err = fmt.Errorf("bad status from %v: %d", r.URL, response.StatusCode)
	}
	if ctx.Err() == nil { // the attempt failed, it wasn't cancelled
		t.requests.CloseIdleConnections()
	}
	return failing(r.URL, err)
}

func failing(u *url.URL, err error) error {
	return fmt.Errorf("failing or missing response from %v: %w", u, err)
}

// newRequest makes a GET of this server's own, as a user. The path may have a query.
func (b *Backend) newRequest(ctx context.Context, user *auth.User, path string) (*http.Request, error) {
	address, err := b.resolve(ctx)
	if err != nil {
		return nil, err
	}
	path, query, _ := strings.Cut(path, "?")
	u := &url.URL{Scheme: "https", Host: address, Path: path, RawQuery: query}
	r := &http.Request{Method: http.MethodGet, URL: u, Host: address, Header: http.Header{}}
	setIdentity(r.Header, user)
	return r.WithContext(ctx), nil
}

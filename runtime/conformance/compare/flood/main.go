// Command flood asks a server for the same list on many connections of HTTP/2, over and over, until its standard input
// ends: flood -connections 50 URL CA CERTIFICATE KEY. It prints a line for each answer. compare runs it as a process of
// its own, so that what it does costs those who measure nothing but their processor.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	connections := flag.Int("connections", 50, "how many connections ask at once")
	flag.Parse()
	if err := flood(*connections, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "flood:", err)
		os.Exit(1)
	}
}

func flood(connections int, arguments []string) error {
	if len(arguments) != 4 || connections < 1 {
		return errors.New("usage: flood -connections 50 URL CA CERTIFICATE KEY")
	}
	config, err := configOf(arguments[1], arguments[2], arguments[3])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	for range connections {
		go func() { cancel(ask(ctx, arguments[0], config)) }()
	}
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		cancel(err)
	}()
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func configOf(ca, certificate, key string) (*tls.Config, error) {
	own, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate", ca)
	}
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{own}}, nil
}

// mostFailures is how many requests in a row may fail: a server that is asked for too much breaks answers off.
const mostFailures = 100

// ask reads one answer after the other on one connection, until ctx ends or too many fail.
func ask(ctx context.Context, url string, config *tls.Config) error {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config.Clone(), Protocols: protocols,
		DisableCompression: true}}
	for failures := 0; ; {
		err := read(ctx, client, url)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			failures = 0
		default:
			if failures++; failures == mostFailures {
				return err
			}
		}
		fmt.Println(err)
	}
}

func read(ctx context.Context, client *http.Client, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

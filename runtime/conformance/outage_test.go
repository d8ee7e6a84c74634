package conformance

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// A server that is told to end does so at once, with informers watching, and without an error; they find its successor.
func TestInformersAcrossGracefulEnd(t *testing.T) {
	t.Parallel()
	server := startEtcd(t)
	client := newDynamic(t, server.config).Resource(flunders).Namespace("default")
	create := func(name string) {
		t.Helper()
		if err := insist(t.Context(), func() error {
			_, err := client.Create(t.Context(), flunder(name), metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) { // its answer was lost
				return nil
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	create("before")
	observers := []*observer{observe(t, server.config, dynamicInformer(t, flunders)),
		observe(t, server.config, metadataInformer(t, oldFlunders))}
	for _, o := range observers {
		o.converges(t, stored(t, server.config, flunders))
	}
	begin := time.Now()
	if err := server.process.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err := server.process.command.Wait()
	server.process.command = nil
	var exit *exec.ExitError
	if errors.As(err, &exit) || err != nil {
		t.Errorf("the server ended with: %v", err)
	}
	if took := time.Since(begin); took > 40*time.Second { // less than requests may take
		t.Errorf("it took %s", took)
	}
	server.process.start()
	create("after")
	want := stored(t, server.config, flunders)
	if len(want) != 2 {
		t.Errorf("stored: %v", want)
	}
	for _, o := range observers {
		o.converges(t, want)
	}
}

// While etcd stands still, requests are answered with errors that say so, or given up by their clients; when it goes
// on, so does everything else.
func TestInformersAcrossStall(t *testing.T) {
	t.Parallel()
	server := startEtcd(t)
	client := newDynamic(t, server.config).Resource(flunders).Namespace("default")
	if _, err := client.Create(t.Context(), flunder("before"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	o := observe(t, server.config, dynamicInformer(t, flunders))
	o.converges(t, stored(t, server.config, flunders))

	server.etcd.Stop()
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := client.Create(short, flunder("stalled"), metav1.CreateOptions{})
	if err == nil {
		t.Error("a write was answered while etcd stood still")
	}
	if _, err := client.Get(short, "before", metav1.GetOptions{}); err == nil {
		t.Error("a consistent read was answered while etcd stood still")
	}
	if got, err := client.Get(t.Context(), "before", metav1.GetOptions{ResourceVersion: "0"}); err != nil ||
		got.GetName() != "before" {
		t.Errorf("a read of what the cache has: %v", err)
	}
	checkLive(t, server.config)
	server.etcd.Continue()

	if err := insist(t.Context(), func() error {
		_, err := client.Create(t.Context(), flunder("after"), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	o.converges(t, stored(t, server.config, flunders))
}

// checkLive: a server whose storage is away must not be restarted for that.
func checkLive(t *testing.T, config *rest.Config) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Get(config.Host + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("/livez: %d", response.StatusCode)
	}
}

// A list whose revision was compacted away between two pages is told so, with a token to go on by at the current state.
func TestPagesAcrossCompaction(t *testing.T) {
	t.Parallel()
	server := startEtcd(t)
	client := newDynamic(t, server.config).Resource(flunders).Namespace("default")
	for i := range 10 {
		if _, err := client.Create(t.Context(), flunder(nth(i)), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	first, err := client.List(t.Context(), metav1.ListOptions{Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Delete(t.Context(), nth(7), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	compact(t, server.etcd)
	server.process.crash() // its cache might remember
	_, err = client.List(t.Context(), metav1.ListOptions{Limit: 4, Continue: first.GetContinue()})
	if !apierrors.IsResourceExpired(err) {
		t.Fatalf("the second page: %v", err)
	}
	next := err.(apierrors.APIStatus).Status().Continue
	if next == "" {
		t.Fatalf("no token to go on by: %v", err)
	}
	rest, err := client.List(t.Context(), metav1.ListOptions{Continue: next})
	if err != nil {
		t.Fatal(err)
	}
	if got := append(namesOf(first.Items), namesOf(rest.Items)...); len(got) != 9 {
		t.Errorf("the pages hold %q", got)
	}
}

package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
)

const migrated = 120

// encryptWith writes an encryption configuration with keys, the first one first.
func encryptWith(t *testing.T, names ...string) (flag string) {
	t.Helper()
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: " +
		"[widgets.shop.example.com]\n  providers:\n"
	for _, name := range names {
		secret := base64.StdEncoding.EncodeToString([]byte((name + strings.Repeat("-", 32))[:32]))
		text += "  - secretbox: {keys: [{name: " + name + ", secret: " + secret + "}]}\n"
	}
	path := filepath.Join(t.TempDir(), "encryption.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "--encryption-provider-config=" + path
}

func serving(groups ...registry.Group) Program { return Program{Name: "shop", Groups: groups} }

func send(t *testing.T, c *http.Client, method, url, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// rewritten counts the values under the new key.
func rewritten(t *testing.T, backend storage.Backend) (n int) {
	t.Helper()
	result, err := backend.Range(t.Context(), storage.RangeRequest{Prefix: "/registry/shop.example.com/widgets/"})
	if err != nil {
		return 0
	}
	for _, kv := range result.Items {
		if bytes.HasPrefix(kv.Value, []byte("k8s:enc:secretbox:v1:two:")) {
			n++
		}
	}
	return n
}

// interrupted migrates slowly until enough was rewritten, lets stop end it, and returns what it said.
func interrupted(t *testing.T, backend storage.Backend, enough int, stop func(cancel context.CancelFunc),
	args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, serving(widgetsIn("v1", "v1beta1")), &out,
			append([]string{"migrate", "--rate=20", "--request-timeout=5s"}, args...)...)
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for rewritten(t, backend) < enough {
		select {
		case <-deadline:
			t.Fatal("it gets nowhere")
		case err := <-ended:
			t.Fatalf("it ended: %v\n%s", err, out.String())
		case <-tick.C:
		}
	}
	stop(cancel)
	err := <-ended
	return out.String(), err
}

// Yesterday's server stores v1beta1 with key one; tomorrow's knows only v1 and key two. In between is a migration on a
// real etcd, which is interrupted, loses its etcd, and is resumed.
func TestMigrateCommand(t *testing.T) {
	t.Parallel()
	process := etcdtest.Start(t)
	backend, err := etcd.New(t.Context(), etcd.Config{Endpoints: []string{process.Endpoint()},
		DialTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	servers := "--etcd-servers=" + process.Endpoint()
	one, both, two := encryptWith(t, "one"), encryptWith(t, "two", "one"), encryptWith(t, "two")

	yesterday := startProgram(t, serving(widgetsIn("v1beta1", "v1")), filepath.Join(t.TempDir(), "data"), servers, one)
	client := yesterday.client(t)
	for i := range migrated {
		code, answer := send(t, client, "POST", yesterday.url+"/apis/shop.example.com/v1/namespaces/ns/widgets",
			fmt.Sprintf(`{"metadata":{"name":"w%03d"},"spec":{"color":"red"}}`, i))
		if code != 201 {
			t.Fatal(code, answer)
		}
	}
	yesterday.end(t)

	err = run(t.Context(), serving(widgets()), io.Discard, "--secure-port=0",
		"--data-dir="+filepath.Join(t.TempDir(), "data"), servers, two)
	const refusal = "opening widgets.shop.example.com: objects may be stored in v1beta1, which this server cannot " +
		"read (it reads v1)"
	if err == nil || !strings.HasPrefix(err.Error(), refusal) {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), serving(widgetsIn("v1", "v1beta1")), &out, "migrate", "--dry-run", servers,
		both); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("widgets.shop.example.com: %d of %d read, %d stale, 0 rewritten, done; versions on record: "+
		"v1beta1\n", migrated, migrated, migrated)
	if out.String() != want || rewritten(t, backend) != 0 {
		t.Errorf("%s", out.String())
	}

	said, err := interrupted(t, backend, 3, func(cancel context.CancelFunc) { cancel() }, servers, both)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "interrupted: run it again to go on") ||
		!strings.Contains(said, ", not done\n") {
		t.Errorf("%v\n%s", err, said)
	}
	first := rewritten(t, backend)
	_, err = interrupted(t, backend, first+3, func(context.CancelFunc) { process.Kill() }, servers, both)
	if err == nil {
		t.Error("it ended well without etcd")
	}
	process.Restart()

	out.Reset()
	if err := run(t.Context(), serving(widgetsIn("v1", "v1beta1")), &out, "migrate", "--rate=0", servers,
		both); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), ", done; versions on record: v1\n") ||
		strings.Contains(out.String(), fmt.Sprintf(" %d rewritten", migrated)) {
		t.Error(out.String())
	}
	if n := rewritten(t, backend); n != migrated {
		t.Errorf("%d are rewritten", n)
	}

	tomorrow := startProgram(t, serving(widgets()), filepath.Join(t.TempDir(), "data"), servers, two)
	code, list := get(t, tomorrow.client(t), tomorrow.url+"/apis/shop.example.com/v1/namespaces/ns/widgets")
	if code != 200 || strings.Count(list, `"color":"red"`) != migrated {
		t.Errorf("%d with %d widgets", code, strings.Count(list, `"color":"red"`))
	}
	tomorrow.end(t)
}

// What can't be read is named, ends the command with an error, and can be deleted by an administrator alone.
func TestUnreadableObjects(t *testing.T) {
	process := etcdtest.Start(t)
	backend, err := etcd.New(t.Context(), etcd.Config{Endpoints: []string{process.Endpoint()},
		DialTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	const key = "/registry/shop.example.com/widgets/ns/bad"
	if _, err := backend.Put(t.Context(), key, []byte("k8s:enc:secretbox:v1:lost:xyz"), 0, 0); err != nil {
		t.Fatal(err)
	}
	servers, two := "--etcd-servers="+process.Endpoint(), encryptWith(t, "two")
	const why = key + `: the value was encrypted with secretbox key "lost", and the encryption configuration has ` +
		`only secretbox key "two"`
	var out bytes.Buffer
	err = run(t.Context(), serving(widgets()), &out, "migrate", servers, two)
	if err == nil || err.Error() != "1 objects were left as they are" || !strings.Contains(out.String(), why) {
		t.Errorf("%v\n%s", err, out.String())
	}

	s := startProgram(t, serving(widgets()), filepath.Join(t.TempDir(), "data"), servers, two)
	client, path := s.client(t), s.url+"/apis/shop.example.com/v1/namespaces/ns/widgets"
	for _, step := range []struct {
		method, path, body string
		code               int
		want               string
	}{
		{"GET", "/bad", "", 500, `secretbox key \"lost\"`},
		{"GET", "", "", 500, key},
		{"DELETE", "/bad", "", 500, key},
		{"DELETE", "/bad", `{"ignoreStoreReadErrorWithClusterBreakingPotential":true,"gracePeriodSeconds":0}`, 422,
			"cannot be set together with"},
		{"DELETE", "/bad", `{"ignoreStoreReadErrorWithClusterBreakingPotential":true}`, 200, `"status":"Success"`},
		{"GET", "", "", 200, `"items":[]`},
		{"POST", "", `{"metadata":{"name":"good"}}`, 201, ""},
		{"DELETE", "/good", `{"ignoreStoreReadErrorWithClusterBreakingPotential":true}`, 409, "the object can be read"},
		{"GET", "/good", "", 200, ""},
	} {
		if code, answer := send(t, client, step.method, path+step.path, step.body); code != step.code ||
			!strings.Contains(answer, step.want) {
			t.Errorf("%s %s %s: %d %s", step.method, step.path, step.body, code, answer)
		}
	}
	s.end(t)
}

func TestMigrateFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"--etcd-servers is required":      nil,
		"--rate: -1 must not be negative": {"--rate=-1", "--etcd-servers=http://127.0.0.1:1"},
		"unknown flag: --secure-port":     {"--secure-port=1"},
		"--encryption-provider-config: stat": {"--encryption-provider-config=/none",
			"--etcd-servers=http://127.0.0.1:1"},
		`unknown command "widgets" for "shop migrate"`: {"widgets"},
	} {
		err := run(t.Context(), serving(widgets()), io.Discard, append([]string{"migrate"}, args...)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

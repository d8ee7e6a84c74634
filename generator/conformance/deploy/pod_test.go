//go:build linux

package deploy

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// podToken is the token of the server's account, userToken that of a user of the cluster.
const podToken, userToken = "of-the-pod", "of-alice"

const servingSecret = "/api/v1/namespaces/shop/secrets/shop-serving"

// host stands in for the API server of a cluster: it knows one user, who may do everything.
func host(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	const configMaps = "GET /api/v1/namespaces/kube-system/configmaps"
	mux.HandleFunc(configMaps, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "true" {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
	})
	mux.HandleFunc("POST /apis/authentication.k8s.io/v1/tokenreviews", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, func(review *authenticationv1.TokenReview) {
			review.Status.Authenticated = review.Spec.Token == userToken
			review.Status.User.Username = "alice"
		})
	})
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/subjectaccessreviews",
		func(w http.ResponseWriter, r *http.Request) {
			answer(w, r, func(review *authorizationv1.SubjectAccessReview) {
				review.Status.Allowed = review.Spec.User == "alice"
			})
		})
	secret := []byte(`{"kind":"Secret","apiVersion":"v1","metadata":{"resourceVersion":"1"}}`)
	mux.HandleFunc("GET "+servingSecret, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(secret) })
	mux.HandleFunc("PUT "+servingSecret, func(w http.ResponseWriter, r *http.Request) {
		secret, _ = io.ReadAll(r.Body) // the one replica sends one request at a time
		_, _ = w.Write(secret)
	})
	mux.HandleFunc("/apis/apiregistration.k8s.io/", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","reason":"NotFound","code":404,"message":"not found"}`)
	})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+podToken {
			http.Error(w, "who is this?", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func answer[T any](w http.ResponseWriter, r *http.Request, decide func(*T)) {
	review := new(T)
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	decide(review)
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(review)
}

// account is where kubelet mounts the credentials of a pod's account.
const account = "var/run/secrets/kubernetes.io/serviceaccount/"

// pod returns a command that runs the server as a pod does: with the files of volumes, an empty volume that the user
// may write, and the address of the cluster. The port is free.
func (i *image) pod(t *testing.T, cluster string, args []string, files map[string][]byte) *exec.Cmd {
	t.Helper()
	command := i.command(t, append(slices.Clone(args), "--secure-port=0")...)
	for path, content := range files {
		path = filepath.Join(i.root, path)
		write(t, path, content)
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(i.root, "data")
	// As fsGroup does.
	err := errors.Join(os.MkdirAll(data, 0o770), os.Chown(data, 0, int(i.user)), os.Chmod(data, 0o2770))
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(cluster)
	if err != nil {
		t.Fatal(err)
	}
	command.Env = []string{"KUBERNETES_SERVICE_HOST=" + at.Hostname(), "KUBERNETES_SERVICE_PORT=" + at.Port()}
	return command
}

// encodeKey returns a private key in PEM.
func encodeKey(t *testing.T, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

var serving = regexp.MustCompile(`^serving (https://\S+)`)

// start runs a server, and waits until it serves. It returns the address, and what ends the server.
func start(t *testing.T, command *exec.Cmd) (address *url.URL, stop func()) {
	t.Helper()
	var log bytes.Buffer
	command.Stderr = &log
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, out)
		if err := command.Wait(); err != nil || t.Failed() {
			t.Errorf("the server ended: %v\n%s", err, log.String())
		}
	})
	t.Cleanup(stop)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := serving.FindStringSubmatch(lines.Text()); m != nil {
			if address, err = url.Parse(m[1]); err != nil {
				t.Fatal(err)
			}
			return address, stop
		}
	}
	t.Fatal("the server does not serve")
	return nil, nil
}

// serves: the server of the StatefulSet starts with the files of its pod, passes its probes, and asks the cluster.
func (i *image) serves(t *testing.T, certificates string) {
	cluster := host(t)
	template, _ := pod(t, render(t, "embedded", certificates))
	container := template.Spec.Containers[0]
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cluster.Certificate().Raw})
	address, _ := start(t, i.pod(t, cluster.URL, container.Args, map[string][]byte{
		account + "ca.crt": authority, account + "token": []byte(podToken), "tls/tls.crt": authority,
		"tls/tls.key": encodeKey(t, cluster.TLS.Certificates[0].PrivateKey),
	}))
	const widgets = "/apis/shop.example.com/v1/widgets"
	for _, c := range []struct {
		path, token string
		want        int
	}{
		{container.LivenessProbe.HTTPGet.Path, "", http.StatusOK},
		{container.ReadinessProbe.HTTPGet.Path, "", http.StatusOK},
		{widgets, "", http.StatusUnauthorized},
		{widgets, userToken, http.StatusOK},
	} {
		answers(t, address.String()+c.path, c.token, c.want)
	}
}

// answers repeats a request, as probes do, until it is answered with a code.
func answers(t *testing.T, address, token string, want int) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(30 * time.Second); ; <-tick.C {
		got, body := ask(t, http.MethodGet, address, token, nil)
		if got == want {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%s: %d %s", address, got, body)
		}
	}
}

// ask sends a request to a server, whatever its certificate. Code 0 means that there was no answer.
func ask(t *testing.T, method, address, token string, body []byte) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

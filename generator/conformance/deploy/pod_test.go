//go:build linux

package deploy

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// podToken is the token of the server's account, userToken that of a user of the cluster.
const podToken, userToken = "of-the-pod", "of-alice"

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

// mount writes what a pod has beside the image: the token of its account, the certificate of the server, and an empty
// volume that the user may write.
func (i *image) mount(t *testing.T, cluster *httptest.Server) {
	t.Helper()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cluster.Certificate().Raw})
	const account = "var/run/secrets/kubernetes.io/serviceaccount/"
	files := map[string][]byte{
		account + "ca.crt": authority, account + "token": []byte(podToken), "tls/tls.crt": authority,
		"tls/tls.key": keyOf(t, cluster),
	}
	for path, content := range files {
		path = filepath.Join(i.root, path)
		write(t, path, content)
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(i.root, "data")
	if err := os.Mkdir(data, 0o770); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(data, 0, int(i.user)); err != nil { // as fsGroup does
		t.Skip(err)
	}
	if err := os.Chmod(data, 0o2770); err != nil {
		t.Fatal(err)
	}
}

// keyOf returns the private key of a server.
func keyOf(t *testing.T, server *httptest.Server) []byte {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
}

var serving = regexp.MustCompile(`^serving (https://\S+)`)

// serves: the server of the StatefulSet starts with the files of its pod, passes its probes, and asks the cluster.
func (i *image) serves(t *testing.T) {
	cluster := host(t)
	template, _ := pod(t, render(t, "embedded", "self-signed"))
	container := template.Spec.Containers[0]
	command := i.command(t, append(container.Args, "--secure-port=0")...)
	i.mount(t, cluster)
	at, err := url.Parse(cluster.URL)
	if err != nil {
		t.Fatal(err)
	}
	command.Env = []string{"KUBERNETES_SERVICE_HOST=" + at.Hostname(), "KUBERNETES_SERVICE_PORT=" + at.Port()}
	var log bytes.Buffer
	command.Stderr = &log
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	address := ""
	for lines := bufio.NewScanner(out); address == "" && lines.Scan(); {
		if m := serving.FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	for path, want := range map[string]int{
		container.LivenessProbe.HTTPGet.Path: 200, container.ReadinessProbe.HTTPGet.Path: 200,
		"/apis/shop.example.com/v1/widgets": 401, "/apis/shop.example.com/v1/widgets?token=" + userToken: 200,
	} {
		if address == "" {
			break
		}
		if got, body := ask(t, address+path); got != want {
			t.Errorf("%s: %d %s", path, got, body)
		}
	}
	_ = command.Process.Signal(syscall.SIGTERM)
	_, _ = io.Copy(io.Discard, out)
	if err := command.Wait(); err != nil || address == "" || t.Failed() {
		t.Errorf("the server ended: %v\n%s", err, log.String())
	}
}

// ask sends a request with the token of its query.
func ask(t *testing.T, address string) (int, string) {
	t.Helper()
	address, token, _ := strings.Cut(address, "?token=")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
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
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(body)
}

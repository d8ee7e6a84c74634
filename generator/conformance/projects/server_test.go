package projects

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// server is a running server of a project, and what it serves.
type server struct {
	url    string
	client *http.Client
	// resources are paths behind the namespace's, or behind the version's, by apiVersion and kind.
	resources map[string]resource
	// namespaces are those that were asked for.
	namespaces map[string]bool
}

type resource struct {
	group, Name, Kind string
	Namespaced        bool
}

var serving = regexp.MustCompile(`serving (https://\S+)`)

// start builds and starts the project's server, a package of it, with its embedded etcd, and stops it when the test
// ends.
func start(t *testing.T, dir, command string) *server {
	t.Helper()
	binary, data := filepath.Join(t.TempDir(), "server"), t.TempDir()
	must(t, dir, "go", "build", "-o", binary, command)
	cmd := exec.CommandContext(t.Context(), binary, "--secure-port=0", "--data-dir="+data)
	cmd.Dir, cmd.Env = data, append(os.Environ(), "SYSTEM_NAMESPACE=default")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = cmd.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan string, 1), make(chan string, 1)
	go func() {
		var text strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			text.WriteString(lines.Text() + "\n")
			if m := serving.FindStringSubmatch(lines.Text()); m != nil {
				ready <- m[1]
			}
		}
		ended <- text.String()
	}()
	s := &server{}
	select {
	case s.url = <-ready:
	case text := <-ended:
		t.Fatalf("the server ended: %s", text)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
		_ = cmd.Wait()
	})
	s.client = admin(t, filepath.Join(data, "admin.kubeconfig"))
	s.discover(t)
	return s
}

// admin is a client with the certificates of a kubeconfig.
func admin(t *testing.T, name string) *http.Client {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				CA []byte `json:"certificate-authority-data"`
			}
		}
		Users []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
				Key         []byte `json:"client-key-data"`
			}
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.X509KeyPair(config.Users[0].User.Certificate, config.Users[0].User.Key)
	if err != nil {
		t.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(config.Clusters[0].Cluster.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: authorities, Certificates: []tls.Certificate{certificate},
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// gatewayAPI is the group of a project among Kubernetes' own.
const gatewayAPI = "gateway.networking.k8s.io"

// discover asks for all resources of the project's groups.
func (s *server) discover(t *testing.T) {
	t.Helper()
	s.resources, s.namespaces = map[string]resource{}, map[string]bool{}
	var groups struct {
		Groups []struct {
			Name     string
			Versions []struct{ GroupVersion string }
		}
	}
	s.get(t, "/apis", &groups)
	for _, g := range groups.Groups {
		if strings.HasSuffix(g.Name, ".k8s.io") && g.Name != gatewayAPI { // ready-made
			continue
		}
		for _, v := range g.Versions {
			var list struct{ Resources []resource }
			s.get(t, "/apis/"+v.GroupVersion, &list)
			for _, r := range list.Resources {
				if !strings.Contains(r.Name, "/") {
					r.group, _, _ = strings.Cut(v.GroupVersion, "/")
					s.resources[v.GroupVersion+" "+r.Kind] = r
				}
			}
		}
	}
}

func (s *server) get(t *testing.T, path string, into any) {
	t.Helper()
	code, text := s.do(t, http.MethodGet, path, nil)
	if err := json.Unmarshal(text, into); err != nil || code != http.StatusOK {
		t.Fatalf("GET %s: %d, %v\n%s", path, code, err, text)
	}
}

func (s *server) do(t *testing.T, method, path string, body []byte) (code int, text []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	answer, err := s.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, text
}

// kinds are the resources that are served, sorted.
func (s *server) kinds(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, r := range s.resources {
		if name := r.Name + "." + r.group; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// create creates what a manifest holds, as strictly as kubectl does. It returns the server's refusal, empty where the
// server accepts the object, and reports whether the kind is served.
func (s *server) create(t *testing.T, m manifest) (refusal string, served bool) {
	t.Helper()
	r, served := s.resources[m.APIVersion+" "+m.Kind]
	if !served {
		return "", false
	}
	path := "/apis/" + m.APIVersion
	if r.Namespaced {
		namespace := m.Metadata.Namespace
		if namespace == "" {
			namespace = "default"
		}
		s.createNamespace(t, namespace)
		path += "/namespaces/" + namespace
	}
	path += "/" + r.Name + "?fieldValidation=Strict"
	code, text := s.do(t, http.MethodPost, path, m.json)
	if code == http.StatusCreated {
		return "", true
	}
	var status struct{ Message, Reason string }
	if err := json.Unmarshal(text, &status); err != nil {
		return fmt.Sprintf("%d: %s", code, text), true
	}
	if status.Reason == "AlreadyExists" { // several files declare it
		code, text = s.do(t, http.MethodPost, path+"&dryRun=All", bytes.Replace(m.json,
			[]byte(`"name":"`+m.Metadata.Name+`"`), []byte(`"name":"`+m.Metadata.Name+`-again"`), 1))
		if code == http.StatusCreated {
			return "", true
		}
		_ = json.Unmarshal(text, &status)
	}
	return fmt.Sprintf("%d: %s", code, status.Message), true
}

// createNamespace creates the namespace that a sample is in. A placeholder is not a name for one, as the answer to the
// sample tells.
func (s *server) createNamespace(t *testing.T, name string) {
	t.Helper()
	if s.namespaces[name] {
		return
	}
	code, text := s.do(t, http.MethodPost, "/api/v1/namespaces", fmt.Appendf(nil, `{"metadata": {"name": %q}}`, name))
	switch code {
	case http.StatusCreated, http.StatusConflict, http.StatusUnprocessableEntity:
	default:
		t.Errorf("namespace %s: %d %s", name, code, text)
	}
	s.namespaces[name] = true
}

package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
)

// program is a binary whose embedded backend is in memory.
func program() Program {
	return Program{Name: "shop", Embedded: opens(func(context.Context, string) (storage.Backend, error) {
		return memory.New(), nil
	})}
}

// opens is an embedded backend that has nothing to restore.
type opens func(ctx context.Context, dir string) (storage.Backend, error)

func (o opens) Open(ctx context.Context, dir string, _ storage.EmbeddedOptions) (storage.Backend, error) {
	return o(ctx, dir)
}

func (o opens) Restore(context.Context, string, string, storage.RestoreOptions) error {
	return errors.New("there is nothing to restore")
}

// run runs the program with arguments until ctx ends.
func run(ctx context.Context, p Program, out io.Writer, args ...string) error {
	command := Command(p)
	command.SetArgs(append([]string{}, args...)) // nil would be those of the test's binary
	command.SetOut(out)
	return command.ExecuteContext(ctx)
}

// What is wrong with the flags is told in one line, and nothing has been made by then.
func TestBadFlags(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.pem")
	if err := os.WriteFile(garbage, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown flag", []string{"--nope"}, "unknown flag: --nope"},
		{"an argument", []string{"x"}, "unknown command"},
		{"port", []string{"--secure-port=70000"}, "--secure-port: 70000 is no port"},
		{"address", []string{"--bind-address=here"}, `--bind-address: "here" is no IP address`},
		{"prefix", []string{"--etcd-prefix=registry"}, "--etcd-prefix"},
		{"etcd URL", []string{"--etcd-servers=localhost"}, `--etcd-servers: "localhost" is no URL like`},
		{"half a pair", []string{"--tls-cert-file=" + garbage},
			"--tls-cert-file and --tls-private-key-file go together"},
		{"etcd's without etcd", []string{"--etcd-cafile=" + garbage}, "go with --etcd-servers"},
		{"missing file", []string{"--token-auth-file=" + dir + "/none"}, "--token-auth-file: stat"},
		{"unreadable certificate", []string{"--tls-cert-file=" + garbage, "--tls-private-key-file=" + garbage},
			"--tls-cert-file and --tls-private-key-file: tls: failed to find any PEM data"},
		{"no certificate", []string{"--client-ca-file=" + garbage}, "holds no certificate in PEM"},
		{"a broken pair for names", []string{"--tls-sni-cert-key=" + garbage + "," + garbage},
			"--tls-sni-cert-key " + garbage + "," + garbage + ": tls: failed to find any PEM data"},
		{"no pair for names", []string{"--tls-sni-cert-key=" + garbage},
			"want the files of a certificate and of its key"},
		{"a missing pair for names", []string{"--tls-sni-cert-key=" + dir + "/none,x"}, "--tls-sni-cert-key: stat"},
		{"a URL for a name", []string{"--tls-san=https://example.com"},
			"--tls-san: \"https://example.com\" is neither"},
		{"names of a certificate that is given",
			[]string{"--tls-san=x.com", "--tls-cert-file=" + garbage, "--tls-private-key-file=" + garbage},
			"--tls-san is for the certificate that the server makes"},
		{"a version", []string{"--tls-min-version=1.2"}, `--tls-min-version: "1.2" is none of VersionTLS10`},
		{"cipher suites", []string{"--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"},
			"--tls-cipher-suites: HTTP/2 needs TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
		{"bad tokens", []string{"--token-auth-file=" + garbage}, "garbage.pem:1: 1 columns"},
		{"compaction", []string{"--etcd-compaction-interval=-1s"},
			"--etcd-compaction-interval: -1s must not be negative"},
		{"quota", []string{"--quota-backend-bytes=1000"}, "--quota-backend-bytes: 1000 must be at least"},
		{"reload of nothing", []string{"--encryption-provider-config-automatic-reload"},
			"goes with --encryption-provider-config"},
		{"no encryption configuration", []string{"--encryption-provider-config=" + garbage},
			"--encryption-provider-config: " + garbage + ": "},
		{"collector", []string{"--garbage-collector=nobody"}, `"nobody" is neither server nor external`},
		{"no collector", []string{"--enable-garbage-collector=false", "--garbage-collector=external"},
			"--garbage-collector goes with --enable-garbage-collector=true"},
		{"grace", []string{"--livez-grace-period=-1s"}, "--livez-grace-period: -1s must not be negative"},
		{"log", []string{"--logging-format=xml"}, `--logging-format: "xml" is neither text nor json`},
		{"verbosity", []string{"-v=-1"}, "-v: -1 must not be negative"},
		{"delay", []string{"--shutdown-delay-duration=-1s"}, "--shutdown-delay-duration: -1s must not be negative"},
		{"chance", []string{"--goaway-chance=0.03"}, "--goaway-chance: 0.03 must be between 0 and 0.02"},
		{"streams", []string{"--http2-max-streams-per-connection=-1"},
			"--http2-max-streams-per-connection: -1 must not be negative"},
		{"directive", []string{"--strict-transport-security-directives=max-age=soon"}, `"max-age=soon" is none of`},
		{"origin", []string{"--cors-allowed-origins=^https://example.com"}, "must begin with ^ or // and end with"},
		{"expression", []string{"--cors-allowed-origins=^[$"}, "--cors-allowed-origins: \"^[$\": error parsing regexp"},
		{"timeout", []string{"--request-timeout=0s"}, "--request-timeout"},
		{"all at once", []string{"--secure-port=-1", "--bind-address=x"},
			`--bind-address: "x" is no IP address; --secure-port: -1 is no port`},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			err := run(t.Context(), program(), io.Discard, append(test.args, "--data-dir="+data)...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the data directory was made: %v", err)
			}
		})
	}
}

func TestWithoutEmbedded(t *testing.T) {
	err := run(t.Context(), Program{Name: "shop"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "--etcd-servers is required") {
		t.Errorf("error %v", err)
	}
}

func TestPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	data := filepath.Join(t.TempDir(), "data")
	port := taken.Addr().(*net.TCPAddr).Port
	err = run(t.Context(), program(), io.Discard, "--data-dir="+data, "--secure-port="+strconv.Itoa(port))
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the data directory was made: %v", err)
	}
}

// A backend that can't be opened ends the program, and the port is free again.
func TestBackendFails(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := program()
	p.Embedded = opens(func(_ context.Context, dir string) (storage.Backend, error) {
		return nil, fmt.Errorf("data directory %s is %w", dir, storage.ErrInUse)
	})
	err := run(t.Context(), p, io.Discard, "--data-dir="+data, "--secure-port=0")
	if err == nil || err.Error() != "data directory "+data+" is in use by another server" {
		t.Errorf("error %v", err)
	}
}

// A program that is told to end while it opens its storage, or asks it what is stored, ends at once, well, and says so.
func TestEndedBeforeServing(t *testing.T) {
	for name, open := range map[string]func(ctx context.Context, end context.CancelFunc) (storage.Backend, error){
		"opening": func(ctx context.Context, end context.CancelFunc) (storage.Backend, error) {
			end()
			return nil, fmt.Errorf("starting etcd: %w", ctx.Err())
		},
		"asking": func(_ context.Context, end context.CancelFunc) (storage.Backend, error) {
			return &deaf{Backend: memory.New(), asked: end}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			p := program()
			p.Groups = []registry.Group{widgets()}
			p.Embedded = opens(func(ctx context.Context, _ string) (storage.Backend, error) { return open(ctx, end) })
			var out bytes.Buffer
			began := time.Now()
			if err := run(ctx, p, &out, "--data-dir="+filepath.Join(t.TempDir(), "data"),
				"--secure-port=0"); err != nil {
				t.Errorf("error %v", err)
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("it took %s", took)
			}
			if out.String() != "told to end before it served\n" {
				t.Errorf("it said %q", &out)
			}
		})
	}
}

// deaf is a backend that never tells what a key holds.
type deaf struct {
	storage.Backend
	asked func()
}

func (d *deaf) Get(ctx context.Context, _ string, _ storage.GetOptions) (*storage.KeyValue, int64, error) {
	d.asked()
	<-ctx.Done()
	return nil, 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
}

// started is a program that serves.
type started struct {
	url, dir string
	stop     context.CancelFunc
	ended    chan error     // has the program's error
	gone     chan struct{}  // closed when the program has ended
	clients  []*http.Client // those of client and anonymous
}

func start(t *testing.T, dir string, args ...string) *started {
	t.Helper()
	return startProgram(t, program(), dir, args...)
}

func startProgram(t *testing.T, p Program, dir string, args ...string) *started {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s := &started{dir: dir, stop: stop, ended: make(chan error, 1), gone: make(chan struct{})}
	reader, writer := io.Pipe()
	go func() {
		err := run(ctx, p, writer, append([]string{"--data-dir=" + dir, "--secure-port=0"}, args...)...)
		writer.CloseWithError(io.EOF)
		s.ended <- err
		close(s.gone)
	}()
	t.Cleanup(func() { // another test may look at what runs
		s.leave()
		<-s.gone
	})
	var out bytes.Buffer
	buffer := make([]byte, 1024)
	for !strings.Contains(out.String(), "kubeconfig: ") {
		n, err := reader.Read(buffer)
		out.Write(buffer[:n])
		if err != nil {
			t.Fatalf("the program ended: %v", <-s.ended)
		}
	}
	match := regexp.MustCompile(`serving (https://\S+)   storage: (embedded )?etcd `).FindStringSubmatch(out.String())
	if match == nil {
		t.Fatalf("it said %q", out.String())
	}
	s.url = match[1]
	return s
}

// awaitReady waits until the server is ready, which it isn't at once: caches are filled beside the first requests.
func (s *started) awaitReady(t *testing.T) {
	t.Helper()
	admin, tick, late := s.client(t), time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		code, body := get(t, admin, s.url+"/readyz")
		if code == http.StatusOK {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("/readyz: %d %s", code, body)
		}
	}
}

func (s *started) end(t *testing.T) {
	t.Helper()
	s.leave()
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("the program ended with %v", err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the program did not end")
	}
}

// leave tells the program to end, and closes the connections of its clients: net/http's server waits a second for idle
// ones of HTTP/2.
func (s *started) leave() {
	s.stop()
	for _, client := range s.clients {
		client.CloseIdleConnections()
	}
}

// client reads the admin kubeconfig, as kubectl would.
func (s *started) client(t *testing.T) *http.Client {
	t.Helper()
	path := filepath.Join(s.dir, "admin.kubeconfig")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the admin kubeconfig has mode %o", info.Mode().Perm())
	}
	client := clientOf(t, path)
	s.clients = append(s.clients, client)
	return client
}

// anonymous returns a client without credentials.
func (s *started) anonymous(t *testing.T) *http.Client {
	t.Helper()
	client := anonymousClient(t, filepath.Join(s.dir, "admin.kubeconfig"))
	s.clients = append(s.clients, client)
	return client
}

func get(t *testing.T, c *http.Client, url string) (int, string) {
	t.Helper()
	response, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestServes(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte("s3cret,bob,7,\"dev\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, filepath.Join(t.TempDir(), "data"), "--token-auth-file="+tokens)
	s.awaitReady(t)
	admin, anonymous := s.client(t), s.anonymous(t)
	for _, test := range []struct {
		client *http.Client
		path   string
		code   int
		want   string
	}{
		{anonymous, "/livez", 200, "ok"},
		{anonymous, "/readyz?verbose", 200,
			"[+]storage ok\n[+]garbage-collector ok\n[+]shutdown ok\nreadyz check passed"},
		{anonymous, "/readyz/storage", 200, "ok"},
		{anonymous, "/readyz/nonsense", 404, `there is no check "nonsense"`},
		{anonymous, "/version", 401, `"reason":"Unauthorized"`},
		{anonymous, "/apis", 401, `"reason":"Unauthorized"`},
		{admin, "/version", 200, `"gitVersion": "v1.`},
		{admin, "/apis", 200, `"APIGroupList"`},
		{admin, "/metrics", 200, "apiserver_request_total"},
		{admin, "/metrics", 200, "go_goroutines"},
		{admin, "/metrics/slis", 200, `kubernetes_healthcheck{name="storage",type="readyz"} 1`},
		{anonymous, "/metrics/slis", 401, `"reason":"Unauthorized"`},
		{admin, "/debug/pprof/heap?debug=1", 200, "heap profile"},
		{admin, "/", 200, `"/openapi/v3"`},
		{anonymous, "/", 401, `"reason":"Unauthorized"`},
		{admin, "/nope", 404, ""},
	} {
		code, body := get(t, test.client, s.url+test.path)
		if code != test.code || !strings.Contains(body, test.want) {
			t.Errorf("%s: %d %q, want %d %q", test.path, code, body, test.code, test.want)
		}
	}
	if code, _ := send(t, admin, http.MethodDelete, s.url+"/metrics", ""); code != 405 {
		t.Errorf("a server without the feature resets its metrics: %d", code)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer s3cret")
	response, err := anonymous.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("bob, who may read discovery and nothing else, got %d", response.StatusCode)
	}
	s.end(t)
}

// A second start keeps the identity: yesterday's kubeconfig is today's, but for the port.
func TestIdentityIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	first := start(t, dir)
	old := first.client(t)
	first.end(t)
	second := start(t, dir)
	if code, _ := get(t, old, second.url+"/version"); code != 200 {
		t.Errorf("the certificate of the first start got %d", code)
	}
	second.end(t)
}

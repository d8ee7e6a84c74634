package matrix

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/storage"
	"sigs.k8s.io/yaml"
)

// world is a server with the users and objects that the tables speak of.
type world struct {
	name         string
	host         string
	tls          *tls.Config
	certificates map[string]*tls.Certificate
	// auditLog is the log of the server; "" if it writes none.
	auditLog string
	key      *rsa.PrivateKey
	// issuers are those of users, in the world that has some.
	issuers *issuers
	// tokens is the file of static tokens, and admin the administrator's.
	tokens, admin string
	// backend holds the objects of ours.
	backend storage.Backend
	// words are what requests may refer to: tokens and uids.
	words map[string]string
	rows  int
}

// newWorld is a world whose tokens are NAME-token.
func newWorld(name string) *world {
	return &world{
		name: name, tokens: "testdata/tokens.csv", admin: "admin-token",
		// Nobody knows the authority of the server.
		tls: &tls.Config{InsecureSkipVerify: true},
	}
}

// worlds are the configurations of a server: the flags that both servers take, beside those of all.
var worlds = map[string][]string{
	// Nobody is anonymous, except for health.
	"closed": {"--authentication-config=testdata/authentication.yaml"},
	// Who sends no credentials is system:anonymous.
	"anonymous": {"--anonymous-auth=true"},
	// Users come from issuers, whose configuration is made with them.
	"issuers": nil,
}

// credentials makes the certificates and keys of a world in dir, and returns the flags that name them.
func (w *world) credentials(t testing.TB, dir string) []string {
	t.Helper()
	clients, proxies, strangers := newAuthority(t, "clients"), newAuthority(t, "proxies"), newAuthority(t, "strangers")
	now := time.Now()
	alice, hour := pkix.Name{CommonName: "alice", Organization: []string{"dev"}}, now.Add(time.Hour)
	w.certificates = map[string]*tls.Certificate{
		"alice":           clients.issue(t, alice, hour, x509.ExtKeyUsageClientAuth),
		"masters":         clients.issue(t, name("root", "system:masters"), hour, x509.ExtKeyUsageClientAuth),
		"reader":          clients.issue(t, name("reader"), hour, x509.ExtKeyUsageClientAuth),
		"anonymous":       clients.issue(t, name("system:anonymous"), hour, x509.ExtKeyUsageClientAuth),
		"unauthenticated": clients.issue(t, name("eve", "system:unauthenticated"), hour, x509.ExtKeyUsageClientAuth),
		"account":         clients.issue(t, name("system:serviceaccount:red:robot"), hour, x509.ExtKeyUsageClientAuth),
		"expired":         clients.issue(t, alice, now.Add(-time.Minute), x509.ExtKeyUsageClientAuth),
		"of-server":       clients.issue(t, alice, hour, x509.ExtKeyUsageServerAuth),
		"nameless":        clients.issue(t, name("", "system:masters"), hour, x509.ExtKeyUsageClientAuth),
		"stranger":        strangers.issue(t, name("root", "system:masters"), hour, x509.ExtKeyUsageClientAuth),
		"aggregator":      proxies.issue(t, name("aggregator"), hour, x509.ExtKeyUsageClientAuth),
		"unlisted":        proxies.issue(t, name("unlisted", "system:masters"), hour, x509.ExtKeyUsageClientAuth),
		"pretender":       clients.issue(t, name("aggregator"), hour, x509.ExtKeyUsageClientAuth),
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	w.key = key
	signing := write(t, dir, "key.pem", pem.EncodeToMemory(&pem.Block{
		Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key),
	}))
	w.auditLog = filepath.Join(dir, "audit.log")
	flags := []string{
		"--token-auth-file=" + w.tokens,
		"--client-ca-file=" + write(t, dir, "clients.pem", clients.pem()),
		"--requestheader-client-ca-file=" + write(t, dir, "proxies.pem", proxies.pem()),
		"--requestheader-allowed-names=aggregator",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-uid-headers=X-Remote-Uid", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--service-account-issuer=" + issuer, "--service-account-key-file=" + signing,
		"--service-account-signing-key-file=" + signing,
		"--audit-policy-file=testdata/audit-policy.yaml", "--audit-log-path=" + w.auditLog,
		"--authorization-mode=RBAC",
	}
	if w.name == "issuers" {
		w.issuers = startIssuers(t)
		flags = append(flags, "--authentication-config="+w.issuers.configuration(t, dir))
	}
	return flags
}

func name(common string, organizations ...string) pkix.Name {
	return pkix.Name{CommonName: common, Organization: organizations}
}

// authority is a certificate authority.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t testing.TB, common string) authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: common}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return authority{sign(t, template, template, key.Public(), key), key}
}

func sign(t testing.TB, template, parent *x509.Certificate, public crypto.PublicKey,
	key crypto.Signer) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func (a authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

func (a authority) issue(t testing.TB, subject pkix.Name, until time.Time, usage x509.ExtKeyUsage) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	issued := sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: subject, NotBefore: a.certificate.NotBefore, NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{usage}, KeyUsage: x509.KeyUsageDigitalSignature,
	}, a.certificate, key.Public(), a.key)
	return &tls.Certificate{Certificate: [][]byte{issued.Raw}, PrivateKey: key}
}

func write(t testing.TB, dir, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// withoutAdmission has the servers take objects in namespaces that don't exist: the tables are about access.
const withoutAdmission = "--disable-admission-plugins=NamespaceLifecycle,PodSecurity,ServiceAccount," +
	"MutatingAdmissionPolicy,MutatingAdmissionWebhook,ValidatingAdmissionPolicy,ValidatingAdmissionWebhook"

// populate makes the objects of the tables, and the words for them.
func (w *world) populate(t testing.TB) {
	t.Helper()
	data, err := os.ReadFile("testdata/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w.words = map[string]string{
		"host": w.host, "red": "/api/v1/namespaces/red", "blue": "/api/v1/namespaces/blue",
		"rbac": "/apis/rbac.authorization.k8s.io/v1", "redrbac": "/apis/rbac.authorization.k8s.io/v1/namespaces/red",
	}
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		w.make(t, []byte(document))
	}
	w.remove(t, "/api/v1/namespaces/red/serviceaccounts/doomed")
	w.remove(t, "/api/v1/namespaces/red/secrets/bound-gone")
	w.remove(t, "/api/v1/namespaces/red/serviceaccounts/reborn")
	w.words["uid:reborn-before"] = w.words["uid:reborn"]
	w.make(t, []byte(`{apiVersion: v1, kind: ServiceAccount, metadata: {name: reborn, namespace: red}}`))
	w.makeTokens(t)
	w.awaitIssuers(t)
}

// collections are the paths of the kinds of testdata/objects.yaml.
var collections = map[string]string{
	"ConfigMap": "/api/v1/namespaces/%s/configmaps", "Secret": "/api/v1/namespaces/%s/secrets",
	"ServiceAccount":     "/api/v1/namespaces/%s/serviceaccounts",
	"Role":               "/apis/rbac.authorization.k8s.io/v1/namespaces/%s/roles",
	"RoleBinding":        "/apis/rbac.authorization.k8s.io/v1/namespaces/%s/rolebindings",
	"ClusterRole":        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
	"ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
	"Lease":              "/apis/coordination.k8s.io/v1/namespaces/%s/leases",
	"Event":              "/api/v1/namespaces/%s/events",
}

func (w *world) make(t testing.TB, document []byte) {
	t.Helper()
	var o object
	if err := yaml.Unmarshal(document, &o); err != nil {
		t.Fatal(err)
	}
	path, known := collections[o.Kind]
	if !known {
		t.Fatalf("the kind of %s has no path", document)
	}
	if strings.Contains(path, "%") {
		path = fmt.Sprintf(path, o.Metadata.Namespace)
	}
	answer := w.until(t, http.MethodPost, path, document)
	if err := json.Unmarshal(answer, &o); err != nil {
		t.Fatal(err)
	}
	if o.Metadata.Namespace != "blue" { // the tokens are of red's accounts
		w.words["uid:"+o.Metadata.Name] = o.Metadata.UID
	}
}

func (w *world) remove(t testing.TB, path string) {
	t.Helper()
	w.until(t, http.MethodDelete, path, nil)
}

// until repeats a request of the administrator until it succeeds, and returns the answer.
func (w *world) until(t testing.TB, method, path string, body []byte) []byte {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: w.tls.Clone()}
	defer transport.CloseIdleConnections()
	last := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		request, err := http.NewRequestWithContext(t.Context(), method, "https://"+w.host+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+w.admin)
		request.Header.Set("Content-Type", "application/yaml")
		response, err := transport.RoundTrip(request)
		if err != nil {
			last = err.Error()
			continue
		}
		text, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		last = response.Status + " " + string(text)
		if response.StatusCode < 300 {
			return text
		}
	}
	t.Fatalf("%s %s %s: %.2000s", method, path, body, last)
	return nil
}

// ask sends the request of a row, and returns the id and the lines of the answer.
func (w *world) ask(t testing.TB, q *question, r *row) (id string, lines []string, err error) {
	t.Helper()
	w.freshen(t, r.who)
	w.rows++
	id = fmt.Sprintf("%s%d", rowPrefix, w.rows)
	w.words["id"] = id
	m, err := newMessage(q, r.who, w.words)
	if err != nil {
		return id, nil, err
	}
	answers, err := w.exchange(m, r.how, id)
	for _, a := range answers {
		w.remember(a.body)
		lines = append(lines, a.line())
	}
	return id, lines, err
}

// remember keeps the token and the uid of an answer for the requests after it.
func (w *world) remember(body []byte) {
	var o struct {
		Metadata metadata
		Status   json.RawMessage
	}
	if json.Unmarshal(body, &o) != nil {
		return
	}
	if o.Metadata.UID != "" {
		w.words["uid"] = o.Metadata.UID
	}
	var status struct{ Token string }
	if json.Unmarshal(o.Status, &status) == nil && status.Token != "" {
		w.words["token"] = status.Token
	}
}

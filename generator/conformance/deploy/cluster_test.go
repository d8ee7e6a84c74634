//go:build linux

package deploy

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// binaryVariable names a kube-apiserver.
const binaryVariable = "KUBE_APISERVER"

const adminToken = "administrator"

// cluster is a kube-apiserver with an aggregator, and without controllers: no pod starts.
type cluster struct{ url, dir string }

func startCluster(t *testing.T) *cluster {
	t.Helper()
	binary := os.Getenv(binaryVariable)
	if binary == "" {
		t.Skip("set " + binaryVariable + " to a kube-apiserver")
	}
	c := &cluster{dir: t.TempDir()}
	port := freePort(t)
	c.url = fmt.Sprintf("https://127.0.0.1:%d", port)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, content []byte) string {
		write(t, filepath.Join(c.dir, name), content)
		return filepath.Join(c.dir, name)
	}
	signing := file("sa.key", pem.EncodeToMemory(&pem.Block{
		Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	front, frontKey := newFront(t)
	log, err := os.Create(filepath.Join(c.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary, "--etcd-servers="+startEtcd(t), "--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), "--cert-dir="+c.dir,
		"--token-auth-file="+file("tokens.csv", []byte(adminToken+`,admin,1,"system:masters"`+"\n")),
		"--authorization-mode=RBAC", "--requestheader-client-ca-file="+file("front.crt", front),
		"--requestheader-allowed-names=front", "--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file="+file("proxy.crt", front),
		"--proxy-client-key-file="+file("proxy.key", frontKey), "--enable-aggregator-routing=true",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+signing,
		"--service-account-signing-key-file="+signing, "--service-cluster-ip-range=10.0.0.0/24",
		"--enable-priority-and-fairness=false")
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("kube-apiserver's log ends with:\n%s", text[max(0, len(text)-5_000):])
		}
	})
	c.until(t, adminToken, "GET", "/readyz", 200)
	// The last objects that kube-apiserver makes at its start.
	c.until(t, adminToken, "GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/"+
		"extension-apiserver-authentication-reader", 200)
	c.until(t, adminToken, "GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication", 200)
	return c
}

// startEtcd runs the etcd of ETCD, which ends with its standard input, and returns where it serves.
func startEtcd(t *testing.T) string {
	t.Helper()
	endpoint := fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	command := exec.Command(os.Getenv("ETCD"), "--data-dir="+t.TempDir(), "--log-level=error",
		"--listen-client-urls="+endpoint, "--advertise-client-urls="+endpoint,
		"--listen-peer-urls=http://127.0.0.1:0")
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("the etcd of ETCD: %v", err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = command.Wait()
	})
	return endpoint
}

// freePort returns a port on which nobody listens now.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}

// ask sends an object, if there is one, and reads the answer into a second one, if there is one.
func (c *cluster) ask(t *testing.T, token, method, path string, objects ...any) (int, string) {
	t.Helper()
	var body []byte
	if len(objects) > 0 {
		var err error
		if body, err = json.Marshal(objects[0]); err != nil {
			t.Fatal(err)
		}
	}
	code, text := ask(t, method, c.url+path, token, body)
	if len(objects) > 1 {
		if err := json.Unmarshal([]byte(text), objects[1]); err != nil {
			t.Fatalf("%s %s: %v\n%s", method, path, err, text)
		}
	}
	return code, text
}

// until repeats a request until it is answered with a code.
func (c *cluster) until(t *testing.T, token, method, path string, want int, objects ...any) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(time.Minute); ; <-tick.C {
		code, text := c.ask(t, token, method, path, objects...)
		if code == want {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%s %s: %d %.2000s", method, path, code, text)
		}
	}
}

// create creates an object of the manifests.
func (c *cluster) create(t *testing.T, object runtime.Object) {
	t.Helper()
	accessor, err := meta.Accessor(object)
	if err != nil {
		t.Fatal(err)
	}
	kind := object.GetObjectKind().GroupVersionKind()
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	path := "/apis/" + plural.Group + "/" + plural.Version
	if plural.Group == "" {
		path = "/api/" + plural.Version
	}
	if namespace := accessor.GetNamespace(); namespace != "" {
		path += "/namespaces/" + namespace
	}
	if code, text := c.ask(t, adminToken, "POST", path+"/"+plural.Resource, object); code != http.StatusCreated {
		t.Errorf("%s %s: %d %s", kind.Kind, accessor.GetName(), code, text)
	}
}

// token returns a token of a service account.
func (c *cluster) token(t *testing.T, account string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	c.until(t, adminToken, "POST", "/api/v1/namespaces/shop/serviceaccounts/"+account+"/token",
		http.StatusCreated, map[string]any{"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1"}, request)
	return request.Status.Token
}

// address returns one of this machine that an EndpointSlice can have.
func address(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if own, ok := a.(*net.IPNet); ok && own.IP.To4() != nil && own.IP.IsGlobalUnicast() {
			return own.IP.String()
		}
	}
	t.Skip("the machine has only addresses of its own")
	return ""
}

// endpoints tells the cluster where the one pod of the server is.
func (c *cluster) endpoints(t *testing.T, ip string, port int32) {
	t.Helper()
	ready, named, protocol := true, "https", corev1.ProtocolTCP
	slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	slice.SetGroupVersionKind(discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"))
	slice.Name, slice.Namespace = name, name
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: name}
	slice.Ports = []discoveryv1.EndpointPort{{Name: &named, Port: &port, Protocol: &protocol}}
	slice.Endpoints = []discoveryv1.Endpoint{{
		Addresses: []string{ip}, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
	}}
	c.create(t, slice)
}

// newFront makes the client certificate of an aggregator, which is its own authority.
func newFront(t *testing.T) (certificate, key []byte) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "front"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), encodeKey(t, secret)
}

// deploy applies all built-in objects to a cluster, and runs the image with the files of its pod. The server makes its
// certificate, and tells the APIServices. It returns a token of the server's account.
func (c *cluster) deploy(t *testing.T) (token string) {
	t.Helper()
	ip, i := address(t), buildImage(t)
	dir := project(t, schema.GroupVersion{Group: "shop.example.com", Version: "v1"})
	r := renderIn(t, dir, "embedded", "self-signed")
	for _, kind := range []string{
		"Namespace", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "Service", "Secret",
		"StatefulSet", "PodDisruptionBudget", "NetworkPolicy", "APIService",
	} {
		for _, object := range r[kind] {
			c.create(t, object)
		}
	}
	authority, err := os.ReadFile(filepath.Join(c.dir, "apiserver.crt"))
	if err != nil {
		t.Fatal(err)
	}
	token = c.token(t, name)
	template, _ := pod(t, r)
	served, _ := start(t, i.pod(t, c.url, template.Spec.Containers[0].Args, map[string][]byte{
		account + "ca.crt": authority, account + "token": []byte(token),
	}))
	port, err := strconv.ParseInt(served.Port(), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	c.endpoints(t, ip, int32(port))
	return token
}

const widgets = "/apis/shop.example.com/v1/namespaces/default/widgets"

// widget returns a Widget, which has owners.
func widget(name string, owners ...any) map[string]any {
	return map[string]any{
		"apiVersion": "shop.example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": name, "ownerReferences": owners},
		"spec":     map[string]any{"color": "green"},
	}
}

// TestCluster asks a server that was applied to a kube-apiserver through the aggregator.
func TestCluster(t *testing.T) {
	c := startCluster(t)
	token := c.deploy(t)
	deployment := only[*appsv1.Deployment](t, render(t))
	c.create(t, deployment)
	admitted := &corev1.Pod{Spec: deployment.Spec.Template.Spec} // by the Pod Security Standard of the namespace, too
	admitted.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	admitted.Name, admitted.Namespace = name, name
	c.create(t, admitted)

	c.until(t, adminToken, "POST", widgets, http.StatusCreated, widget("a"))
	c.until(t, adminToken, "GET", widgets+"/a", http.StatusOK)
	c.until(t, token, "GET", widgets+"/a", http.StatusForbidden)
	c.restored(t)
}

// restored: the APIService has the authority in the Secret, and the server restores a caBundle that somebody removed.
func (c *cluster) restored(t *testing.T) {
	t.Helper()
	const path = "/apis/apiregistration.k8s.io/v1/apiservices/v1.shop.example.com"
	bundle := func() []byte {
		var s apiregistrationv1.APIService
		c.until(t, adminToken, "GET", path, http.StatusOK, nil, &s)
		if s.Spec.InsecureSkipTLSVerify {
			t.Error("the APIService has insecureSkipTLSVerify")
		}
		return s.Spec.CABundle
	}
	var secret corev1.Secret
	c.until(t, adminToken, "GET", "/api/v1/namespaces/shop/secrets/shop-serving", http.StatusOK, nil, &secret)
	before := bundle()
	if len(before) == 0 || !bytes.Equal(before, secret.Data["ca.crt"]) {
		t.Fatalf("the caBundle is %q, the Secret has %q", before, secret.Data["ca.crt"])
	}
	found := map[string]any{}
	c.until(t, adminToken, "GET", path, http.StatusOK, nil, &found)
	delete(found["spec"].(map[string]any), "caBundle")
	c.until(t, adminToken, "PUT", path, http.StatusOK, found)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(time.Minute); !bytes.Equal(bundle(), before); <-tick.C {
		if time.Now().After(late) {
			t.Fatal("the caBundle was not restored")
		}
	}
}

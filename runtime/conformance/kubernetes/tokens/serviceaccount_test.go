package tokens

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/serviceaccount"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	"gopkg.in/go-jose/go-jose.v2/jwt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/apis/core"
	kube "k8s.io/kubernetes/pkg/serviceaccount"
)

const issuer = "https://shop.example.com"

var (
	account = &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "robot", UID: "robot-uid"}}
	pod     = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "pod-uid"},
		Spec: corev1.PodSpec{NodeName: "n1"}}
	secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "s", UID: "secret-uid"}}
	node   = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "node-uid"}}
)

// kubeWorld has these objects for kube-apiserver's validator.
type kubeWorld struct{ kube.ServiceAccountTokenGetter }

func (kubeWorld) GetServiceAccount(context.Context, string, string) (*corev1.ServiceAccount, error) {
	return account, nil
}

func (kubeWorld) GetPod(context.Context, string, string) (*corev1.Pod, error) { return pod, nil }

func (kubeWorld) GetSecret(context.Context, string, string) (*corev1.Secret, error) {
	return secret, nil
}

func (kubeWorld) GetNode(context.Context, string) (*corev1.Node, error) { return node, nil }

// one has one object, for package reach.
type one[T any] struct {
	reach.Objects[T]
	object T
}

func (o one[T]) Get(context.Context, string, string) (T, error) { return o.object, nil }

// ourWorld has the objects in the context of a request.
func ourWorld(ctx context.Context) context.Context {
	ctx = reach.WithObjects(ctx, one[*corev1.ServiceAccount]{object: account})
	ctx = reach.WithObjects(ctx, one[*corev1.Pod]{object: pod})
	ctx = reach.WithObjects(ctx, one[*corev1.Secret]{object: secret})
	return reach.WithObjects(ctx, one[*corev1.Node]{object: node})
}

// addressed is a listener with an address, and nothing else.
type addressed struct{ net.Listener }

func (addressed) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 6443} }

// ours is our server's configuration with a key.
func ours(t *testing.T, key crypto.Signer) *server.Config {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	var feature serviceaccount.Feature
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	feature.AddFlags(flags)
	if err := flags.Parse([]string{"--service-account-issuer=" + issuer, "--service-account-signing-key-file=" +
		path}); err != nil {
		t.Fatal(err)
	}
	config := &server.Config{Log: slog.New(slog.DiscardHandler), Serving: server.Serving{Listener: addressed{}}}
	if err := config.Use(t.Context(), &feature); err != nil {
		t.Fatal(err)
	}
	return config
}

func keys(t *testing.T) map[string]crypto.Signer {
	t.Helper()
	all := map[string]crypto.Signer{}
	for name, curve := range map[string]elliptic.Curve{
		"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521(),
	} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = key
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	all["RS256"] = key
	return all
}

// kube-apiserver's verifier accepts our tokens, and we its tokens, with the same users; both publish the same
// documents.
func TestServiceAccounts(t *testing.T) {
	for algorithm, key := range keys(t) {
		config := ours(t, key)
		getter, err := kube.StaticPublicKeysGetter([]any{key})
		if err != nil {
			t.Fatal(err)
		}
		theirs := kube.JWTTokenAuthenticator([]string{issuer}, getter, authenticator.Audiences{issuer},
			kube.NewValidator(kubeWorld{}))
		signer, err := kube.JWTTokenGenerator(issuer, key)
		if err != nil {
			t.Fatal(err)
		}
		for bound, object := range map[string]*auth.BoundObject{
			"nothing":  nil,
			"a Pod":    {APIVersion: "v1", Kind: "Pod", Name: "web", UID: "pod-uid"},
			"a Secret": {APIVersion: "v1", Kind: "Secret", Name: "s", UID: "secret-uid"},
			"a Node":   {APIVersion: "v1", Kind: "Node", Name: "n1", UID: "node-uid"},
		} {
			name := algorithm + ", bound to " + bound
			token, _, err := config.Issuer.IssueToken(ourWorld(t.Context()), auth.TokenRequest{
				Account: auth.TokenAccount{Namespace: "shop", Name: "robot", UID: "robot-uid"}, Seconds: 3600,
				Bound: object})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, name+", ours", config, theirs, token)
			claims, private := kubeClaims(t, object)
			if token, err = signer.GenerateToken(t.Context(), claims, private); err != nil {
				t.Fatal(err)
			}
			compare(t, name+", theirs", config, theirs, token)
		}
		compareDocuments(t, algorithm, config, getter)
	}
}

func kubeClaims(t *testing.T, bound *auth.BoundObject) (claims *jwt.Claims, private any) {
	t.Helper()
	var p *core.Pod
	var s *core.Secret
	var n *core.Node
	if bound != nil {
		switch bound.Kind {
		case "Pod":
			p, n = &core.Pod{ObjectMeta: pod.ObjectMeta}, &core.Node{ObjectMeta: node.ObjectMeta}
		case "Secret":
			s = &core.Secret{ObjectMeta: secret.ObjectMeta}
		case "Node":
			n = &core.Node{ObjectMeta: node.ObjectMeta}
		}
	}
	claims, private, err := kube.Claims(core.ServiceAccount{ObjectMeta: account.ObjectMeta}, p, s, n, nil, nil, 3600, 0,
		[]string{issuer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return claims, private
}

// compare asks both who has a token.
func compare(t *testing.T, name string, config *server.Config, theirs authenticator.Token, token string) {
	t.Helper()
	identity, err := config.Authentication.Tokens[0].AuthenticateToken(ourWorld(t.Context()), token, nil)
	if err != nil || identity == nil {
		t.Errorf("%s: we say %v, %v", name, identity, err)
		return
	}
	response, ok, err := theirs.AuthenticateToken(t.Context(), token)
	if err != nil || !ok {
		t.Errorf("%s: they say %v, %v", name, ok, err)
		return
	}
	want := response.User.(*user.DefaultInfo)
	if got := identity.User; got.Name != want.Name || got.UID != want.UID || !reflect.DeepEqual(got.Groups,
		want.Groups) ||
		!reflect.DeepEqual(got.Extra, want.Extra) || !reflect.DeepEqual(identity.Audiences,
		[]string(response.Audiences)) {
		t.Errorf("%s: we say %+v for %q, they say %+v for %q", name, got, identity.Audiences, want, response.Audiences)
	}
}

func compareDocuments(t *testing.T, name string, config *server.Config, getter kube.PublicKeysGetter) {
	t.Helper()
	provider, err := kube.NewOpenIDMetadataProvider(issuer, "", "10.0.0.1:6443", getter)
	if err != nil {
		t.Fatal(err)
	}
	configuration, _ := provider.GetConfigJSON()
	keySet, _ := provider.GetKeysetJSON()
	for path, want := range map[string][]byte{kube.OpenIDConfigPath: configuration, kube.JWKSPath: keySet} {
		w := httptest.NewRecorder()
		config.Paths[path].ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if w.Body.String() != string(want) {
			t.Errorf("%s, %s:\n%s, want\n%s", name, path, w.Body, want)
		}
	}
}

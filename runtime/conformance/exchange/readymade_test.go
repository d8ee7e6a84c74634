package exchange

import (
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin"
	policy "apigen.dev/runtime/conformance/builtin/policy/wiring"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"k8s.io/client-go/tools/clientcmd"
)

// The folders of the scripts about the groups of package runtime/builtin.
const (
	readymadeHTTP    = "readymade/http"
	readymadeKubectl = "readymade/kubectl"
)

// theirsToken is the token of the administrator of the recorded kube-apiserver.
const theirsToken = "recorder"

// startReadymade is a server of ours with the ready-made groups, and its kubeconfig. It has the administrator, the
// audience and the issuer of tokens that the recorded kube-apiserver has.
func startReadymade(t *testing.T) (*world, []byte) {
	t.Helper()
	groups := []registry.Group{policy.Group()} // whose budgets the test lists after each request
	for _, feature := range builtin.Standalone() {
		groups = append(groups, feature.Groups()...)
	}
	tokens := new(auth.Tokens)
	tokens.Add(theirsToken, &auth.User{Name: "admin", UID: "1", Groups: []string{auth.Masters}})
	s := apitest.StartWith(t, func(config *server.Config) {
		config.Authentication.Tokens = append(config.Authentication.Tokens, tokens)
		config.Audiences = []string{"https://kubernetes.default.svc"}
		config.Authorizer, config.Issuer = auth.Always(auth.NoOpinion), noIssuer{}
	}, groups...)
	w := worldOf(s)
	w.token = theirsToken
	return w, s.Kubeconfig
}

// noIssuer is the issuer of a server whose tokens no script asks for.
type noIssuer struct{ auth.TokenIssuer }

// TestReadymade: requests and commands about the ready-made groups are answered as kube-apiserver answers them.
func TestReadymade(t *testing.T) {
	t.Parallel()
	ours, kubeconfig := startReadymade(t)
	requests := 0
	for _, path := range scripts(t, readymadeHTTP) {
		s := readScript(t, path)
		for _, scene := range s.scenes {
			requests += len(scene.exchanges)
			t.Run(scene.name, func(t *testing.T) { replay(t, ours, scene) })
		}
		if *differ {
			s.write(t)
		}
	}
	if requests < 150 {
		t.Errorf("%d requests are too few", requests)
	}
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Token = theirsToken
	}
	replayKubectl(t, ours, newKubectl(t, *config), readymadeKubectl)
}

package delegated

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"sync/atomic"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/frontproxy"
	"apigen.dev/runtime/internal/host/certs"
)

// trusted is what the cluster said last about whom to believe.
type trusted struct {
	log          *slog.Logger
	proxy        atomic.Pointer[frontproxy.Trust]
	clients      atomic.Pointer[x509.CertPool]
	certificates *auth.Certificates // which verifies by clients

	data map[string]string // that was taken last; of take alone
}

// Authenticate implements auth.Authenticator: it accepts the client certificates of the cluster.
func (t *trusted) Authenticate(r *http.Request) (*auth.User, error) {
	if clients := t.clients.Load(); clients != nil {
		return t.certificates.AuthenticateBy(r, clients)
	}
	return nil, nil
}

// take takes the data of the ConfigMap. Data with an error changes nothing, and an authority that is missing leaves the
// previous one. One goroutine at a time may call it.
func (t *trusted) take(data map[string]string) {
	if t.data != nil && maps.Equal(data, t.data) {
		return
	}
	t.data = data
	proxy, clients, err := parse(data)
	if err != nil {
		t.log.Error("the cluster's authorities are wrong, the previous ones stay in use", "configmap", configMap,
			"error", err)
		return
	}
	if proxy != nil {
		t.proxy.Store(proxy)
	}
	if clients != nil {
		t.clients.Store(clients)
	}
	t.log.Info("the cluster's authorities were read", "configmap", configMap, "aggregator", proxy != nil,
		"clients", clients != nil)
}

// parse reads the ConfigMap extension-apiserver-authentication. proxy and clients are nil if it has no authority for
// them.
func parse(data map[string]string) (proxy *frontproxy.Trust, clients *x509.CertPool, err error) {
	if content := data["client-ca-file"]; content != "" {
		if clients, err = certs.ParseAuthorities([]byte(content)); err != nil {
			return nil, nil, fmt.Errorf("client-ca-file: %w", err)
		}
	}
	content := data["requestheader-client-ca-file"]
	if content == "" {
		return nil, clients, nil
	}
	if proxy, err = frontproxy.NewTrust([]byte(content), nil, frontproxy.Headers{}); err != nil {
		return nil, nil, fmt.Errorf("requestheader-client-ca-file: %w", err)
	}
	for key, list := range map[string]*[]string{
		"requestheader-allowed-names":        &proxy.AllowedNames,
		"requestheader-username-headers":     &proxy.Username,
		"requestheader-uid-headers":          &proxy.UID,
		"requestheader-group-headers":        &proxy.Group,
		"requestheader-extra-headers-prefix": &proxy.ExtraPrefixes,
	} {
		if data[key] == "" {
			continue
		}
		if err := json.Unmarshal([]byte(data[key]), list); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	if err := proxy.Check(); err != nil {
		return nil, nil, err
	}
	return proxy, clients, nil
}

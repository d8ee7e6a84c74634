package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/runtime/kubeconfig"
)

// answerLimit bounds the size of an answer in bytes. The patch in it is of an object that must be smaller than what
// the server stores, which is 3 MiB at most, and is in base64.
const answerLimit = 16 << 20

// client calls the webhooks that have one endpoint.
type client struct {
	*http.Client
	url *url.URL
}

// client returns the client for a hook.
func (p *plugin) client(h *hook) (*client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.clients[h.endpoint]; known != nil {
		return known, nil
	}
	made, err := p.newClient(h)
	if err == nil {
		p.clients[h.endpoint] = made
	}
	return made, err
}

// forgetClients closes the idle connections of clients that no hook needs any longer.
func (p *plugin) forgetClients() {
	needed := p.hooks.Load().endpoints()
	p.mu.Lock()
	defer p.mu.Unlock()
	for endpoint, known := range p.clients {
		if !needed[endpoint] {
			known.CloseIdleConnections()
			delete(p.clients, endpoint)
		}
	}
}

func (p *plugin) newClient(h *hook) (*client, error) {
	var config kubeconfig.Config
	var err error
	switch {
	case h.ClientConfig.Service != nil:
		config, err = p.serviceConfig(h)
	case h.ClientConfig.URL != nil && *h.ClientConfig.URL != "":
		config, err = p.urlConfig(*h.ClientConfig.URL)
	default:
		err = errors.New("webhook configuration must have either service or URL")
	}
	if err != nil {
		return nil, err
	}
	// Authorities that a kubeconfig names are of its clusters, and those of users have none.
	config.CA = kubeconfig.Source{Data: slices.Clone(h.ClientConfig.CABundle)}
	made, err := config.Client(p.log, answerLimit)
	if err != nil {
		return nil, err
	}
	return &client{Client: made, url: config.Server}, nil
}

func (p *plugin) urlConfig(text string) (kubeconfig.Config, error) {
	u, err := url.Parse(text)
	if err != nil {
		return kubeconfig.Config{}, fmt.Errorf("Unparsable URL: %w", err)
	}
	config := p.users.For(net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443")))
	if u.Path == "" {
		u.Path = "/"
	}
	config.Server, config.HTTP1 = u, !isLocal(u)
	return config, nil
}

func isLocal(u *url.URL) bool {
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	address, err := netip.ParseAddr(u.Hostname())
	return err == nil && address.IsLoopback()
}

func (p *plugin) serviceConfig(h *hook) (kubeconfig.Config, error) {
	service := h.ClientConfig.Service
	port := int32(443)
	if service.Port != nil {
		port = *service.Port
	}
	name := service.Name + "." + service.Namespace + ".svc"
	host := net.JoinHostPort(name, strconv.Itoa(int(port)))
	config := p.users.For(host)
	config.Server = &url.URL{Scheme: "https", Host: host}
	if service.Path != nil {
		config.Server = config.Server.JoinPath(*service.Path)
	}
	config.ServerName, config.HTTP1 = cmp.Or(config.ServerName, name), true
	if p.services != nil {
		config.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			address, err := p.services(ctx, service.Namespace, service.Name, port)
			if err != nil {
				return nil, err
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
	}
	return config, nil
}

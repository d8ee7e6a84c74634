package webhook

import (
	"net/http"
	"net/url"

	"apigen.dev/runtime/internal/host/kubeconfig"
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
	at := kubeconfig.Webhook{URL: h.ClientConfig.URL, CABundle: h.ClientConfig.CABundle}
	if service := h.ClientConfig.Service; service != nil {
		at.Service = &kubeconfig.WebhookService{
			Namespace: service.Namespace, Name: service.Name, Path: service.Path, Port: service.Port,
		}
	}
	config, err := at.Config(p.users, kubeconfig.Resolve(p.services))
	if err != nil {
		return nil, err
	}
	made, err := config.Client(p.log, answerLimit)
	if err != nil {
		return nil, err
	}
	return &client{Client: made, url: config.Server}, nil
}

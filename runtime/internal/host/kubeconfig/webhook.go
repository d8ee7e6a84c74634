package kubeconfig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Webhook is where a webhook is, as configurations of admission and definitions of custom resources say it: a URL, or a
// service of a cluster.
type Webhook struct {
	URL      *string
	Service  *WebhookService
	CABundle []byte
}

// WebhookService is a service of a cluster that serves a webhook.
type WebhookService struct {
	Namespace, Name string
	Path            *string
	Port            *int32
}

// Resolve returns the address where a service listens.
type Resolve func(ctx context.Context, namespace, name string, port int32) (address string, err error)

// Config returns how to call the webhook, with the credentials that users have for it. services finds services; nil
// leaves it to DNS.
func (w Webhook) Config(users *Users, services Resolve) (config Config, err error) {
	switch {
	case w.Service != nil:
		config = w.Service.config(users, services)
	case w.URL != nil && *w.URL != "":
		config, err = urlConfig(*w.URL, users)
	default:
		err = errors.New("webhook configuration must have either service or URL")
	}
	// Authorities that a kubeconfig names are of its clusters, and those of users have none.
	config.CA = Source{Data: slices.Clone(w.CABundle)}
	return config, err
}

func (u *Users) of(host string) Config {
	if u == nil {
		return Config{}
	}
	return u.For(host)
}

func urlConfig(text string, users *Users) (Config, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Config{}, fmt.Errorf("Unparsable URL: %w", err)
	}
	config := users.of(net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443")))
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

func (s *WebhookService) config(users *Users, services Resolve) Config {
	port := int32(443)
	if s.Port != nil {
		port = *s.Port
	}
	name := s.Name + "." + s.Namespace + ".svc"
	host := net.JoinHostPort(name, strconv.Itoa(int(port)))
	config := users.of(host)
	config.Server = &url.URL{Scheme: "https", Host: host}
	if s.Path != nil {
		config.Server = config.Server.JoinPath(*s.Path)
	}
	config.ServerName, config.HTTP1 = cmp.Or(config.ServerName, name), true
	if services != nil {
		config.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			address, err := services(ctx, s.Namespace, s.Name, port)
			if err != nil {
				return nil, err
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
	}
	return config
}

package proxy

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"
)

// The bounds of connections. Those of time are client-go's.
const (
	dialTimeout      = 30 * time.Second
	handshakeTimeout = 10 * time.Second
	continueTimeout  = time.Second
	idleTimeout      = 90 * time.Second
	pingAfter        = 30 * time.Second
	pingTimeout      = 15 * time.Second

	maxIdlePerAddress = 25
	// maxIdle counts where a service has many addresses. Connections in use have no bound of their own: those of
	// HTTP/1.1 are as many as the requests, which the server bounds, and the watches.
	maxIdle = 100
	// maxHeaderBytes bounds the header of an answer.
	maxHeaderBytes = 1 << 20
	// maxUnreadBytes bounds what an HTTP/2 connection receives of an answer that the client doesn't read.
	maxUnreadBytes = 512 << 10
)

// transports are the connections that were opened with one client certificate.
type transports struct {
	certificate *tls.Certificate
	// mark names this aggregator to those that a request comes to.
	mark string
	// requests speaks HTTP/2 where the backend does; upgrades speaks HTTP/1.1, which alone has them.
	requests, upgrades *http.Transport
}

// transports returns the connections that have the present client certificate.
func (b *Backend) transports() (*transports, error) {
	var certificate *tls.Certificate
	if b.config.Certificate != nil {
		var err error
		if certificate, err = b.config.Certificate(); err != nil {
			return nil, fmt.Errorf("the client certificate of the front proxy: %w", err)
		}
	}
	if t := b.current.Load(); t != nil && sameCertificate(t.certificate, certificate) {
		return t, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.current.Load()
	if old != nil && sameCertificate(old.certificate, certificate) {
		return old, nil
	}
	t := b.newTransports(certificate)
	var err error
	if t.mark, err = markOf(certificate); err != nil {
		return nil, err
	}
	b.current.Store(t)
	if old != nil {
		old.closeIdle()
	}
	return t, nil
}

// sameCertificate compares content, so that a function that reads a file each time doesn't cost the pool.
func sameCertificate(a, b *tls.Certificate) bool {
	if a == b {
		return true
	}
	return a != nil && b != nil && slices.EqualFunc(a.Certificate, b.Certificate, slices.Equal[[]byte])
}

func (b *Backend) newTransports(certificate *tls.Certificate) *transports {
	config := b.tls.Clone()
	if certificate != nil {
		// Unlike Certificates, it is sent whichever authorities the backend hints at.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return certificate, nil
		}
	}
	dialer := &net.Dialer{Timeout: dialTimeout}
	requests := &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: config, TLSHandshakeTimeout: handshakeTimeout,
		MaxIdleConns: maxIdle, MaxIdleConnsPerHost: maxIdlePerAddress, IdleConnTimeout: idleTimeout,
		ExpectContinueTimeout: continueTimeout, MaxResponseHeaderBytes: maxHeaderBytes,
		// A transport that asks for gzip by itself also decompresses: bodies would lose their length.
		DisableCompression: true,
		Protocols:          new(http.Protocols),
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: pingAfter, PingTimeout: pingTimeout, MaxReceiveBufferPerStream: maxUnreadBytes,
		},
	}
	requests.Protocols.SetHTTP1(true)
	requests.Protocols.SetHTTP2(true)

	upgrading := config.Clone()
	upgrading.NextProtos = []string{"http/1.1"}
	upgrades := &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: upgrading, TLSHandshakeTimeout: handshakeTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes, DisableCompression: true,
		DisableKeepAlives: true,
		Protocols:         new(http.Protocols),
	}
	upgrades.Protocols.SetHTTP1(true)
	return &transports{certificate: certificate, requests: requests, upgrades: upgrades}
}

func (t *transports) closeIdle() {
	t.requests.CloseIdleConnections()
	t.upgrades.CloseIdleConnections()
}

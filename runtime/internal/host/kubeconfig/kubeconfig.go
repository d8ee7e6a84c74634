// Package kubeconfig reads and writes the files by which clients of Kubernetes find a server and their credentials, and
// makes HTTP clients of them. A server uses it to ask other servers: webhooks, and the cluster whose guest it is.
//
// It may know packages reload and timing.
package kubeconfig

import (
	"context"
	"net"
	"net/url"
)

// Config is a server and the credentials of one of its users. It is immutable.
type Config struct {
	// Name is that of the server in its file.
	Name string
	// Server is the URL of the server; its scheme is http or https.
	Server *url.URL
	// ServerName is the name in the server's certificate, if it isn't that of the URL.
	ServerName string
	// Insecure accepts any certificate of the server.
	Insecure bool
	// CA are the authorities of the server's certificate; those of the system if it is empty.
	CA Source
	// Proxy is the proxy in front of the server; nil for the one that environment variables name.
	Proxy *url.URL

	// Dial opens the connections; nil is the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// HTTP1 has the client never speak HTTP/2, so that concurrent requests use the several servers behind one name.
	HTTP1 bool

	// Certificate and Key are the client certificate.
	Certificate, Key Source
	// Token is a bearer token. TokenFile, which takes precedence, holds one.
	Token, TokenFile string
	// Username and Password are sent as basic authentication.
	Username, Password string
	// Impersonate is the user as whom the client acts, if it has a name.
	Impersonate Impersonation
}

// Source is PEM that a kubeconfig holds itself, or that the file holds which it names. Data takes precedence.
type Source struct {
	Data []byte
	File string
}

func (s Source) empty() bool { return len(s.Data) == 0 && s.File == "" }

// Impersonation is a user as whom another one acts.
type Impersonation struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
}

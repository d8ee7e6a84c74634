package kubeconfig

import "sigs.k8s.io/yaml"

// Login is what a written kubeconfig holds: the address and the certificate authority of a server, and the credentials
// of a user, which are a client certificate or a token.
type Login struct {
	Name   string // of cluster, user and context
	Server string // URL
	// ServerName is the name that the certificate of the server must have; empty is the host of Server.
	ServerName string
	CA         []byte // PEM
	// Certificate and Key are PEM; Token is a bearer token.
	Certificate, Key []byte
	Token            string
}

// YAML returns the kubeconfig in the format that kubectl and client-go read.
func (l Login) YAML() ([]byte, error) {
	f := file{
		APIVersion: "v1", Kind: "Config", Current: l.Name,
		Clusters: make([]cluster, 1), Users: make([]user, 1), Contexts: make([]binding, 1),
	}
	cluster, user, context := &f.Clusters[0], &f.Users[0], &f.Contexts[0]
	cluster.Name, cluster.Cluster.Server, cluster.Cluster.CA = l.Name, l.Server, l.CA
	cluster.Cluster.ServerName = l.ServerName
	user.Name, user.User.Certificate, user.User.Key, user.User.Token = l.Name, l.Certificate, l.Key, l.Token
	context.Name, context.Context.Cluster, context.Context.User = l.Name, l.Name, l.Name
	return yaml.Marshal(f)
}

package server

import (
	"sigs.k8s.io/yaml"
)

// Kubeconfig has the address and the certificate authority of a server, and the credentials of a user: a client
// certificate or a token.
type Kubeconfig struct {
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
func (k Kubeconfig) YAML() ([]byte, error) {
	file := kubeconfigFile{APIVersion: "v1", Kind: "Config", CurrentContext: k.Name}
	cluster, user, context := &file.Clusters[0], &file.Users[0], &file.Contexts[0]
	cluster.Name, cluster.Cluster.Server, cluster.Cluster.CA = k.Name, k.Server, k.CA
	cluster.Cluster.ServerName = k.ServerName
	user.Name, user.User.Certificate, user.User.Key, user.User.Token = k.Name, k.Certificate, k.Key, k.Token
	context.Name, context.Context.Cluster, context.Context.User = k.Name, k.Name, k.Name
	return yaml.Marshal(file)
}

// kubeconfigFile is the part of client-go's kubeconfig format that is written here, with one entry of each kind.
type kubeconfigFile struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Clusters   [1]struct {
		Name    string `json:"name"`
		Cluster struct {
			Server     string `json:"server"`
			ServerName string `json:"tls-server-name,omitempty"`
			CA         []byte `json:"certificate-authority-data,omitempty"`
		} `json:"cluster"`
	} `json:"clusters"`
	Users [1]struct {
		Name string `json:"name"`
		User struct {
			Certificate []byte `json:"client-certificate-data,omitempty"`
			Key         []byte `json:"client-key-data,omitempty"`
			Token       string `json:"token,omitempty"`
		} `json:"user"`
	} `json:"users"`
	Contexts [1]struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
	} `json:"contexts"`
	CurrentContext string `json:"current-context"`
}

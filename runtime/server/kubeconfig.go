package server

import (
	"sigs.k8s.io/yaml"
)

// Kubeconfig has the address and the certificate authority of a server, and the credentials of a user: a client
// certificate or a token.
type Kubeconfig struct {
	Name   string // of cluster, user and context
	Server string // URL
	CA     []byte // PEM
	// Certificate and Key are PEM; Token is a bearer token.
	Certificate, Key []byte
	Token            string
}

// YAML returns the kubeconfig in the format that kubectl and client-go read.
func (k Kubeconfig) YAML() ([]byte, error) {
	file := kubeconfigFile{APIVersion: "v1", Kind: "Config", CurrentContext: k.Name}
	file.Clusters = []namedCluster{{Name: k.Name, Cluster: cluster{Server: k.Server, CA: k.CA}}}
	file.Users = []namedUser{{Name: k.Name, User: user{Certificate: k.Certificate, Key: k.Key, Token: k.Token}}}
	file.Contexts = []namedContext{{Name: k.Name, Context: kubeContext{Cluster: k.Name, User: k.Name}}}
	return yaml.Marshal(file)
}

// The types below are the part of client-go's kubeconfig format that is written here.
type kubeconfigFile struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	Clusters       []namedCluster `json:"clusters"`
	Users          []namedUser    `json:"users"`
	Contexts       []namedContext `json:"contexts"`
	CurrentContext string         `json:"current-context"`
}

type namedCluster struct {
	Name    string  `json:"name"`
	Cluster cluster `json:"cluster"`
}

type cluster struct {
	Server string `json:"server"`
	CA     []byte `json:"certificate-authority-data,omitempty"`
}

type namedUser struct {
	Name string `json:"name"`
	User user   `json:"user"`
}

type user struct {
	Certificate []byte `json:"client-certificate-data,omitempty"`
	Key         []byte `json:"client-key-data,omitempty"`
	Token       string `json:"token,omitempty"`
}

type namedContext struct {
	Name    string      `json:"name"`
	Context kubeContext `json:"context"`
}

type kubeContext struct {
	Cluster string `json:"cluster"`
	User    string `json:"user"`
}

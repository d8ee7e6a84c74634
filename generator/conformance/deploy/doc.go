// Package deploy holds the files of apigen init --deploy against the tools that read them: kustomize renders them, the
// types of Kubernetes decode them, the go command builds the server as the Dockerfile says, an OCI layout holds the
// image from scratch, and a kube-apiserver with its controllers gets everything applied. It is a module of its own,
// because kustomize has dependencies that apigen has no use for, and holds only tests.
package deploy

package server

import "apigen.dev/runtime/internal/host/kubeconfig"

// Kubeconfig has the address and the certificate authority of a server, and the credentials of a user: a client
// certificate or a token.
type Kubeconfig = kubeconfig.Login

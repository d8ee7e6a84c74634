// Package exchange holds servers of ours against kube-apiserver, request by request and command by command.
//
// testdata/http holds requests, in classes, with the answers that a real kube-apiserver gave to them; testdata/kubectl
// holds commands with what they printed. The tests replay both on a server of ours that serves the same kinds, and
// compare code, reason, message, causes, headers and body. Where ours answers differently on purpose, the file says
// why, and holds both answers. testdata/builtin has such scripts about built-in kinds with few verbs and with names of
// their own, and testdata/names.txt says which names each stable built-in kind may have. `make record`
// asks kube-apiserver anew; see record_test.go.
package exchange

// Package matrix holds a server of ours against kube-apiserver where strangers reach it: who asks, for what, and how.
//
// testdata/tables holds requests, byte by byte where the bytes matter, and for everybody who sends one the answer and
// the audit record of a real kube-apiserver with the same users and RBAC objects: testdata/objects.yaml and
// world_test.go. The test replays the tables on a server of ours, started by its command with the same flags, and
// compares code, reason, message and audit record. Where ours answers differently on purpose, the table says why, and
// holds both answers; an answer that gives more than kube-apiserver's is never on purpose. `make record` asks
// kube-apiserver anew; see record_test.go.
package matrix

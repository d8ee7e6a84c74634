// Package conformance holds the runtime against clients and servers that are not ours: client-go, controller-runtime
// and kubectl on a server of k8s.io/sample-apiserver's types, in memory, on the embedded etcd and on an etcd process;
// and, behind the build tag peer, upstream's server beside ours on one etcd.
//
// It is a module of its own: neither these clients nor k8s.io/apiserver are dependencies of those who use apigen.
package conformance

// Command wardle is apigen's server of k8s.io/sample-apiserver's types, without an etcd inside.
package main

import (
	"apigen.dev/runtime/conformance/apis"
	"apigen.dev/runtime/server"
)

func main() { server.Main(server.Program{Name: "wardle", Groups: apis.Groups()}) }

// Command features is apigen's server of k8s.io/sample-apiserver's types, with the features of a server that governs
// itself, an audit log, and tracing.
package main

import (
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/auditlog"
	"apigen.dev/runtime/builtin/tracing"
	"apigen.dev/runtime/conformance/apis"
	"apigen.dev/runtime/server"
)

func main() {
	server.Main(server.Program{Name: "features", Groups: apis.Groups(),
		Features: append(builtin.Standalone(), &auditlog.Feature{}, &tracing.Feature{})})
}

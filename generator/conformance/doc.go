// Package conformance holds what apigen emits for real packages against what upstream's generators emitted for them:
// k8s.io/sample-apiserver's wardle, apiextensions-apiserver, kube-aggregator and metrics (copies, conversions, defaults, and what
// they share), k8s.io/api and projects that use controller-gen (copies), and Cluster API (conversions around functions written by hand). The packages are copied out of the module cache into a module of their own, under another path, so that both can be linked into one test, which
// compares the two on fuzzed objects. Clients are held to upstream's by their exported API, and to client-go's own for core/v1
// and apps/v1. It also measures what a build costs.
//
// It is a module of its own, so that its dependencies are nobody else's. It knows of apigen only the command.
package conformance

// Package conformance compares the code that apigen emits for real packages with the code that upstream's generators
// emitted for them: k8s.io/sample-apiserver's wardle, apiextensions-apiserver, kube-aggregator and metrics (copies,
// conversions, defaults, and the memory that they share), k8s.io/api and projects that use controller-gen (copies), and
// Cluster API (conversions around hand-written functions). The tests copy the packages out of the module cache into a
// module of its own, under another path, so that one test program can link both and compare them on fuzzed objects.
// They compare the exported API of clients with upstream's, and with client-go's for core/v1 and apps/v1. They also
// measure the cost of a build.
//
// It is a module of its own, so that its dependencies are nobody else's. It knows of apigen only the command.
package conformance

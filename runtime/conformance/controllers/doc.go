// Package controllers runs programs of other projects, built from their modules and unchanged, against
// examples/controlplane: they find there what they find in a cluster, and do their work as far as it needs no nodes.
//
// A program runs as a process on this machine, with the arguments, the variables and the service account that the
// project's Deployment names. What the project installs comes from its module, too. Scripts in testdata say what is
// done then, and what kubectl prints; go test -update writes their answers anew.
package controllers

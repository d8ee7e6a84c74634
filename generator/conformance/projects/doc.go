// Package projects holds a test of whole projects: modules that people serve by custom resources. Each is copied from
// the module cache, made to serve its kinds by the steps that `apigen init` prints, built, started, and given its own
// sample manifests. Random objects of some projects' kinds are compared with the definitions of the types. The
// modules are no requirements of this one, so that none disturbs another's build list.
package projects

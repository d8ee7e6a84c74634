// Package crd holds apigen's CustomResourceDefinitions against those of controller-gen, on the packages of real projects: a
// module of its own, for theirs are heavy. Only its tests do anything.
package crd

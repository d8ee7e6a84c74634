// Package crd compares apigen's CustomResourceDefinitions with those of controller-gen on the packages of real
// projects. It is a module of its own, because these projects have heavy dependencies, and holds only tests.
package crd

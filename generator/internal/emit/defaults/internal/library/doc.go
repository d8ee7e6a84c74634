// Package library is the internal version of an API with defaults of all kinds. The generated files here and below are
// goldens of the emitters, and the tests run them.
//
// +k8s:deepcopy-gen=package
// +groupName=library.example.com
package library

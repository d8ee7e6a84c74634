// Package library is the internal form of API group library.example.com: the hub that every version is converted to, on
// which all logic works. It is never sent to anybody.
//
// +groupName=library.example.com
// +k8s:deepcopy-gen=package
package library

// Package core serves kinds of the group without a name, under /api/v1. One of them brings its own protobuf.
//
// +apigen:groups
package core

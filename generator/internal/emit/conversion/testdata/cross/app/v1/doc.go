// +k8s:conversion-gen=apigen.dev/generator/internal/emit/conversion/testdata/cross/app
// +groupName=app.example.com

// Package v1 is a spoke whose types refer to another spoke's.
package v1

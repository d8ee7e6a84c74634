// +k8s:conversion-gen=apigen.dev/generator/internal/emit/conversion/testdata/cross/base
// +k8s:conversion-gen=apigen.dev/generator/internal/emit/conversion/testdata/cross/base/v1
// +groupName=base.example.com

// Package v1 is a spoke that another spoke refers to.
package v1

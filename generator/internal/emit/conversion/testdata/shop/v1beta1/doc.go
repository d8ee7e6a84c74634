// +k8s:conversion-gen=apigen.dev/generator/internal/emit/conversion/testdata/shop
// +groupName=shop.example.com

// Package v1beta1 is the spoke of the golden test's group.
package v1beta1

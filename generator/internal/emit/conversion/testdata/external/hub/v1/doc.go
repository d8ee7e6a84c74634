// +k8s:conversion-gen=apigen.dev/generator/internal/emit/conversion/testdata/external/hub
// +k8s:conversion-gen-external-types=apigen.dev/generator/internal/emit/conversion/testdata/external/types/v1
// +groupName=external.example.com

// Package v1 has the conversions of types that are elsewhere, as kubernetes has them.
package v1

package v1

import (
	"k8s.io/apimachinery/pkg/conversion"

	"apigen.dev/generator/internal/emit/conversion/testdata/external/hub"
	externalv1 "apigen.dev/generator/internal/emit/conversion/testdata/external/types/v1"
)

var localSchemeBuilder = &externalv1.SchemeBuilder

func Convert_v1_Lock_To_hub_Lock(in *externalv1.Lock, out *hub.Lock, s conversion.Scope) error {
	out.Digits = []byte(in.Code)
	return nil
}

func Convert_hub_Lock_To_v1_Lock(in *hub.Lock, out *externalv1.Lock, s conversion.Scope) error {
	out.Code = string(in.Digits)
	return nil
}

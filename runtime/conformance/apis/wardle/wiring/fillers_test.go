package wiring

import (
	"apigen.dev/runtime/conformance/apis/wardle"
	"apigen.dev/runtime/conformance/apis/wardle/v1alpha1"
	"sigs.k8s.io/randfill"
)

// The hand-written conversions of v1alpha1 know one reference, of the type that is named beside it.
func init() {
	roundTripFillers = append(roundTripFillers,
		func(s *wardle.FlunderSpec, c randfill.Continue) {
			switch c.Intn(3) {
			case 0:
				*s = wardle.FlunderSpec{ReferenceType: wardle.FlunderReferenceType, FlunderReference: "flunder"}
			case 1:
				*s = wardle.FlunderSpec{ReferenceType: wardle.FischerReferenceType, FischerReference: "fischer"}
			default:
				*s = wardle.FlunderSpec{}
			}
		},
		func(s *v1alpha1.FlunderSpec, c randfill.Continue) {
			flunder, fischer := v1alpha1.FlunderReferenceType, v1alpha1.FischerReferenceType
			*s = v1alpha1.FlunderSpec{ReferenceType: []*v1alpha1.ReferenceType{&flunder, &fischer}[c.Intn(2)]}
			c.Fill(&s.Reference)
		},
	)
}

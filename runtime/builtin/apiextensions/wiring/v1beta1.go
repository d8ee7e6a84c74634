// Package wiring also reads what kube-apiserver stored before apiextensions.k8s.io/v1 was.
package wiring

import (
	"apigen.dev/runtime/api"
	v1 "apigen.dev/runtime/builtin/apiextensions/v1"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/custom/crdjson"
	"apigen.dev/runtime/registry"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
)

// Upgrading returns Group, whose resource also reads definitions that are stored as v1beta1. kube-apiserver stores all
// definitions so, although it doesn't serve the version any more. They are stored as v1 when they are next written.
func Upgrading() registry.Group {
	d := defineCustomResourceDefinition()
	d.Versions[0] = codec.WithJSON(d.Versions[0], codec.JSON[*apiextensionsv1.CustomResourceDefinition]{
		Marshal: crdjson.Marshal, Unmarshal: crdjson.Unmarshal,
	})
	// A new definition is prepared by a new status, which its client doesn't own. So the server need not look for other
	// changes of the preparation, in hundreds of kilobytes.
	d.Strategy.PrepareForCreate = nil
	d.Subresources[0].Reset = v1.ResetStatus
	d.Versions = append(d.Versions, codec.VersionOf(api.VersionInfo{Name: "v1beta1", Unserved: true},
		codec.Conversion[*apiextensionsv1.CustomResourceDefinition, *apiextensionsv1beta1.CustomResourceDefinition]{
			New: func() *apiextensionsv1beta1.CustomResourceDefinition {
				return new(apiextensionsv1beta1.CustomResourceDefinition)
			},
			Default: apiextensionsv1beta1.SetObjectDefaults_CustomResourceDefinition,
			ToHub:   fromV1beta1,
			FromHub: toV1beta1,
		}))
	group := Group()
	group.Resources = []registry.Resource{registry.New(d)}
	return group
}

func fromV1beta1(
	in *apiextensionsv1beta1.CustomResourceDefinition, out *apiextensionsv1.CustomResourceDefinition,
) error {
	var hub apiextensions.CustomResourceDefinition
	err := apiextensionsv1beta1.Convert_v1beta1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(in,
		&hub, nil)
	if err != nil {
		return err
	}
	return apiextensionsv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(&hub, out, nil)
}

func toV1beta1(
	in *apiextensionsv1.CustomResourceDefinition, out *apiextensionsv1beta1.CustomResourceDefinition,
) error {
	var hub apiextensions.CustomResourceDefinition
	err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(in, &hub, nil)
	if err != nil {
		return err
	}
	return apiextensionsv1beta1.Convert_apiextensions_CustomResourceDefinition_To_v1beta1_CustomResourceDefinition(&hub,
		out, nil)
}

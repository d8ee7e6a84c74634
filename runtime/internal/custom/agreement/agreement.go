// Package agreement holds kinds whose Go types can't say everything that their JSON says, and the test that the server
// treats their objects as it treats custom resources of the CustomResourceDefinitions that the generator writes of the
// same types.
//
// +apigen:crds=testdata
// +apigen:crds:embeddedMetadata
package agreement

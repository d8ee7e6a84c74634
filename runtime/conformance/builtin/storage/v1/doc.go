// Package v1 serves kinds of the group storage that have a status.
//
// +apigen:serve=k8s.io/api/storage/v1
// +apigen:serve:kinds=VolumeAttachment
// +apigen:roundtrip=false
package v1

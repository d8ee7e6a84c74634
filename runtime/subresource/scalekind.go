package subresource

import (
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/rendition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// scaleObject is autoscaling/v1 Scale, as it is on the wire.
type scaleObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              scaleSpec   `json:"spec,omitempty"`
	Status            scaleStatus `json:"status,omitempty"`
}

type scaleSpec struct {
	Replicas int32 `json:"replicas,omitempty"`
}

type scaleStatus struct {
	Replicas int32  `json:"replicas"`
	Selector string `json:"selector,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (s *scaleObject) DeepCopyObject() runtime.Object {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// scaleGVK is the one version in which scales are served.
var scaleGVK = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// scaleColumns are kube-apiserver's.
var scaleColumns = []api.Column{
	rendition.NameColumn,
	{Name: "Desired", Type: "integer", Description: "The number of replicas that are wanted."},
	{Name: "Available", Type: "integer", Description: "The number of replicas that there are."},
	rendition.AgeColumn,
}

func scaleKind() codec.Kind[*scaleObject] {
	empty := func() *scaleObject { return new(scaleObject) }
	return codec.Kind[*scaleObject]{
		Group: scaleGVK.Group, Kind: scaleGVK.Kind, New: empty,
		Versions: []codec.Version[*scaleObject]{codec.VersionOf(
			api.VersionInfo{Name: scaleGVK.Version, Columns: scaleColumns},
			codec.Conversion[*scaleObject, *scaleObject]{New: empty, Columns: []func(*scaleObject) api.Cell{
				func(s *scaleObject) api.Cell { return api.Text(s.Name) },
				func(s *scaleObject) api.Cell { return api.Int(int64(s.Spec.Replicas)) },
				func(s *scaleObject) api.Cell { return api.Int(int64(s.Status.Replicas)) },
				func(s *scaleObject) api.Cell { return api.Age(s.CreationTimestamp.Time) },
			}, Proto: codec.ProtoOf[*scaleObject]()},
		)},
	}
}

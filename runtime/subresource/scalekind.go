package subresource

import (
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/object/wire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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

func (s *scaleObject) DeepCopyObject() runtime.Object {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// scaleGVK is the one version in which scales are served.
var scaleGVK = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

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

// A scale as Kubernetes protobuf: metadata, spec and status are the fields 1 to 3 of a Scale, replicas and selector 1
// and 2 of a spec and a status. All of them are written, also where they are empty, as k8s.io/api writes them.

func (s *scaleObject) Size() int {
	data, err := s.Marshal()
	if err != nil {
		return 0
	}
	return len(data)
}

func (s *scaleObject) Marshal() ([]byte, error) {
	metadata, err := s.ObjectMeta.Marshal()
	if err != nil {
		return nil, err
	}
	out := wire.AppendField(nil, 1, metadata)
	out = wire.AppendField(out, 2, wire.AppendInt32(nil, 1, s.Spec.Replicas))
	status := wire.AppendInt32(nil, 1, s.Status.Replicas)
	return wire.AppendField(out, 3, wire.AppendField(status, 2, s.Status.Selector)), nil
}

func (s *scaleObject) Unmarshal(data []byte) error {
	return wire.EachField(data, func(f wire.Field) error {
		switch f.Number {
		case 1:
			return s.ObjectMeta.Unmarshal(f.Bytes)
		case 2:
			return wire.EachField(f.Bytes, func(f wire.Field) error {
				if f.Number == 1 {
					s.Spec.Replicas = int32(f.Varint)
				}
				return nil
			})
		case 3:
			return wire.EachField(f.Bytes, func(f wire.Field) error {
				switch f.Number {
				case 1:
					s.Status.Replicas = int32(f.Varint)
				case 2:
					s.Status.Selector = string(f.Bytes)
				}
				return nil
			})
		}
		return nil
	})
}

package codec

import (
	"context"

	"apigen.dev/runtime/api"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Version is one served version of a resource. VersionOf makes it.
type Version[T api.Object] struct {
	Info  api.VersionInfo
	codec versionCodec[T]
}

// HasProtobuf reports whether the version's type has a protobuf encoding.
func (v Version[T]) HasProtobuf() bool { return v.codec != nil && v.codec.hasProtobuf() }

// Conversion holds the typed functions between a version's type V and the hub type T. They may change the objects that
// they get.
type Conversion[T, V api.Object] struct {
	// New returns an empty object of the version.
	New func() V
	// Default sets the defaults of the version; nil where there are none.
	Default func(V)
	// Validate checks an object by the rules of the version, before the Strategy's Validate. old is nil on a creation;
	// op has the subresource of the write. Validate is nil where there are no rules.
	Validate func(ctx context.Context, op operation.Operation, obj, old V) field.ErrorList
	// ToHub and FromHub convert. Both are nil where V is T: the version is the hub. They need not convert
	// managedFields, which reads convert separately.
	ToHub   func(in V, out T) error
	FromHub func(in T, out V) error
	// Columns has a function for each of Info.Columns, which returns the cell of an object.
	Columns []func(V) api.Cell
	// Proto encodes objects of the version as Kubernetes protobuf: ProtoOf[V](), where V has methods for it.
	Proto Proto[V]
}

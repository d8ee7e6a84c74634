package codec

import (
	"context"

	"apigen.dev/runtime/api"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Version is one served version of a resource, made by VersionOf, which knows the version's Go type and closes over it.
type Version[T api.Object] struct {
	Info  api.VersionInfo
	codec versionCodec[T]
}

// HasProtobuf reports whether the version's type has a protobuf encoding.
func (v Version[T]) HasProtobuf() bool { return v.codec.protobuf }

// Conversion holds the typed functions between a version's type V and the hub type T, as generated code has them. All
// work in place, on objects that they own.
type Conversion[T, V api.Object] struct {
	// New returns an empty object of the version.
	New func() V
	// Default fills in what the version defaults; nil where it defaults nothing.
	Default func(V)
	// Validate checks an object of the version against its own rules, before the Strategy's Validate: an object as a
	// client sees it. old is nil on a creation; op tells the subresource that is written. Nil where there are no rules.
	Validate func(ctx context.Context, op operation.Operation, obj, old V) field.ErrorList
	// ToHub and FromHub convert. Both are nil where V is T: the version is the hub. managedFields are not theirs: what
	// is only read is converted without them.
	ToHub   func(in V, out T) error
	FromHub func(in T, out V) error
	// Columns are the cells of the version's printer columns, one for each of Info.Columns; nil where there are none.
	Columns []func(V) api.Cell
	// Proto is how objects of the version are Kubernetes protobuf: ProtoOf[V](), where V brings its own methods for it.
	Proto Proto[V]
}

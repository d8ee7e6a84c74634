package codec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// Mapping holds the functions of a version of a kind that has no Go type. Objects are decoded JSON, with int64 for
// whole numbers. The functions may change the objects that they get, but for Validate and Columns.
type Mapping struct {
	// Read removes what the version doesn't have, and returns the sorted paths of that. It fails where metadata can't
	// be read, unless the object is one that was stored. SetDefaults sets the defaults of a complete object; of one
	// that a client sent, it first removes nulls that aren't allowed.
	Read        func(object map[string]any, stored bool) (unknown []string, err error)
	SetDefaults func(object map[string]any, sent bool) error
	// ToHub and FromHub convert from and to the storage version; nil for the storage version. Objects have apiVersion
	// and kind.
	ToHub, FromHub func(object map[string]any) (map[string]any, error)
	// FromHubAll converts many objects as FromHub does, with one error for each object. It is set where another program
	// converts, so that few calls are better than many. It returns soon after ctx ends.
	FromHubAll func(ctx context.Context, objects []map[string]any) ([]map[string]any, []error)
	// Within returns the same functions, whose conversions end with ctx. It is set where FromHubAll is.
	Within func(ctx context.Context) Mapping
	// Validate checks an object, which replaces old unless that is nil. Both have apiVersion and kind. subresource is
	// that of the write, or empty.
	Validate func(ctx context.Context, subresource string, object, old map[string]any) field.ErrorList
	// Columns has a function for each of Info.Columns.
	Columns []func(object map[string]any) api.Cell
}

// VersionOfMap returns a version of a kind without a Go type, whose hub objects have neither apiVersion nor kind.
func VersionOfMap(info api.VersionInfo, m Mapping) Version[*unstructured.Unstructured] {
	return Version[object]{info, bindingOfMap(&mapped{m})}
}

// mapped is the codec of a Mapping.
type mapped struct{ Mapping }

type object = *unstructured.Unstructured

func bindingOfMap(m *mapped) binding[object] {
	b := binding[object]{codec: m, setDefaults: func(obj object) error { return m.SetDefaults(obj.Object, false) }}
	if m.FromHubAll != nil {
		b.remote = m
	}
	return b
}

func (m *mapped) check(columns int) error {
	switch {
	case m.Read == nil || m.SetDefaults == nil || m.Validate == nil:
		return errors.New("its Mapping lacks Read, SetDefaults or Validate")
	case len(m.Columns) != columns:
		return fmt.Errorf("its Mapping has cells for %d columns, its Info has %d columns", len(m.Columns), columns)
	}
	return nil
}

func (m *mapped) decode(data []byte, _ object, strictly bool) (d Decoded[object], err error) {
	var members map[string]any
	if strictly {
		d.Strict, err = kjson.UnmarshalStrict(data, &members)
	} else {
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, &members)
	}
	if err != nil {
		return d, err
	}
	if kind, _ := members["kind"].(string); kind == "" {
		return d, runtime.NewMissingKindErr(string(data))
	}
	return m.complete(d, members, strictly, false)
}

func (m *mapped) decodeStored(data []byte, _ object) (d Decoded[object], err error) {
	var members map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &members); err != nil {
		return d, err
	}
	if d, err = m.complete(d, members, false, true); err == nil && d.Object.GetGeneration() == 0 {
		d.Object.SetGeneration(1) // another server may have stored it without
	}
	return d, err
}

// complete makes a hub object of decoded JSON.
func (m *mapped) complete(
	d Decoded[object], members map[string]any, strictly, stored bool,
) (Decoded[object], error) {
	apiVersion, _ := members["apiVersion"].(string)
	kind, _ := members["kind"].(string)
	d.GVK = schema.FromAPIVersionAndKind(apiVersion, kind)
	unknown, err := m.Read(members, stored)
	if err != nil {
		return d, err
	}
	if strictly {
		for _, path := range unknown {
			d.Strict = append(d.Strict, fmt.Errorf("unknown field %q", path))
		}
	}
	if err := m.SetDefaults(members, true); err != nil {
		return d, err
	}
	d.Object, err = m.toHub(members)
	return d, err
}

func (m *mapped) toHub(members map[string]any) (object, error) {
	if m.ToHub != nil {
		var err error
		if members, err = m.ToHub(members); err != nil {
			return nil, err
		}
	}
	delete(members, "apiVersion")
	delete(members, "kind")
	obj := &unstructured.Unstructured{Object: members}
	obj.SetSelfLink("")
	return obj, nil
}

// version returns an object in the version, with apiVersion and kind. In the storage version it shares memory with obj.
func (m *mapped) version(obj object, gvk schema.GroupVersionKind) (map[string]any, error) {
	if m.FromHub != nil {
		return m.FromHub(obj.DeepCopy().Object)
	}
	members := make(map[string]any, len(obj.Object)+2)
	for name, value := range obj.Object {
		members[name] = value
	}
	members["apiVersion"], members["kind"] = gvk.GroupVersion().String(), gvk.Kind
	return members, nil
}

func (m *mapped) encode(obj object, gvk schema.GroupVersionKind, head string) ([]byte, error) {
	members, err := m.version(obj, gvk)
	if err != nil {
		return nil, err
	}
	if m.FromHub == nil { // version has made a copy of the map
		delete(members, "apiVersion")
		delete(members, "kind")
		return encodeMembers(members, head)
	}
	rest := make(map[string]any, len(members))
	for name, value := range members {
		if name != "apiVersion" && name != "kind" {
			rest[name] = value
		}
	}
	return encodeMembers(rest, head)
}

// encodeMembers encodes an object with its head in front.
func encodeMembers(members map[string]any, head string) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("{" + head)
	rest, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	if len(members) == 0 {
		return append(bytes.TrimSuffix(out.Bytes(), []byte(",")), '}'), nil
	}
	out.Write(rest[1:])
	return out.Bytes(), nil
}

func (m *mapped) store(obj object, gvk schema.GroupVersionKind, head string) ([]byte, error) {
	return m.encode(obj, gvk, head)
}

func (m *mapped) read(
	encoding verb.Encoding, data []byte, _ object, gvk schema.GroupVersionKind, strictly bool,
) (d Decoded[object], err error) {
	if encoding != verb.CBOR {
		return d, fmt.Errorf("it can't be read as %v", encoding)
	}
	obj := &unstructured.Unstructured{}
	if d.Strict, err = decodeCBOR(data, obj, gvk, strictly); err != nil {
		return d, err
	}
	return m.complete(d, obj.Object, strictly, false)
}

func (m *mapped) write(encoding verb.Encoding, obj object) ([]byte, error) {
	if encoding != verb.CBOR {
		return nil, fmt.Errorf("it can't be written as %v", encoding)
	}
	out := obj
	if m.FromHub != nil {
		members, err := m.FromHub(obj.DeepCopy().Object)
		if err != nil {
			return nil, err
		}
		delete(members, "apiVersion")
		delete(members, "kind")
		out = &unstructured.Unstructured{Object: members}
	}
	return rendition.EncodeCBOR(out)
}

func (m *mapped) cells(obj object) ([]api.Cell, error) {
	if len(m.Columns) == 0 {
		return nil, nil
	}
	members := obj.Object
	if m.FromHub != nil {
		var err error
		if members, err = m.FromHub(obj.DeepCopy().Object); err != nil {
			return nil, err
		}
	}
	cells := make([]api.Cell, len(m.Columns))
	for i, column := range m.Columns {
		cells[i] = column(members)
	}
	return cells, nil
}

func (m *mapped) validate(
	ctx context.Context, op operation.Operation, gvk schema.GroupVersionKind, obj object, old *object,
) (field.ErrorList, error) {
	changed, err := m.version(obj, gvk)
	if err != nil {
		return nil, err
	}
	var before map[string]any
	if old != nil {
		if before, err = m.version(*old, gvk); err != nil {
			return nil, err
		}
	}
	return m.Validate(ctx, strings.TrimPrefix(op.Request.SubresourcePath(), "/"), changed, before), nil
}

func (m *mapped) view(obj object, gvk schema.GroupVersionKind) (runtime.Object, error) {
	out := obj.DeepCopy()
	if m.FromHub != nil {
		members, err := m.FromHub(out.Object)
		if err != nil {
			return nil, err
		}
		out.Object = members
	}
	out.SetGroupVersionKind(gvk)
	out.SetManagedFields(nil)
	return out, nil
}

func (m *mapped) empty(gvk schema.GroupVersionKind) runtime.Object {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(gvk)
	return out
}

func (m *mapped) adopt(members map[string]any, hub object, complete bool) (object, error) {
	members = runtime.DeepCopyJSON(members)
	unknown, err := m.Read(members, false)
	if err != nil {
		return hub, err
	}
	if complete {
		if len(unknown) > 0 {
			var faults []error
			for _, path := range unknown {
				faults = append(faults, fmt.Errorf("unknown field %q", path))
			}
			return hub, runtime.NewStrictDecodingError(faults)
		}
		if err := m.SetDefaults(members, false); err != nil {
			return hub, err
		}
	}
	return m.toHub(members)
}

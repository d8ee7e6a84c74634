package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Decode reads an object in whichever served version it is, in JSON or in protobuf, as it would be stored today.
// kube-apiserver stores its own kinds in protobuf.
func (a *Versions[T]) Decode(data []byte) (T, error) {
	v, d, err := a.decode(data)
	if err != nil || v == a.Storage {
		return d.Object, err
	}
	return a.ToStorageVersion(d.Object)
}

func (a *Versions[T]) decode(data []byte) (v *Served[T], d Decoded[T], err error) {
	if wire.IsEnvelope(data) {
		var message []byte
		if v, message, err = a.message(data); err == nil {
			d, err = v.decodeMessage(message, a.NewHub())
		}
		return v, d, err
	}
	if v, err = a.versionOf(data); err == nil {
		d, err = v.codec.decodeStored(data, a.NewHub())
	}
	return v, d, err
}

func (a *Versions[T]) versionOf(data []byte) (*Served[T], error) {
	for i := range a.Served {
		// Encode writes kind and apiVersion first.
		if v := &a.Served[i]; len(data) > len(v.lead) && data[0] == '{' && string(data[1:1+len(v.lead)]) == v.lead {
			return v, nil
		}
	}
	apiVersion, kind := rendition.TypeOf(data)
	if apiVersion == "" && kind == "" && !json.Valid(data) {
		return nil, fmt.Errorf("it is no JSON: %d bytes, which begin with %q", len(data), data[:min(len(data), 16)])
	}
	return a.called(kind, apiVersion)
}

// ToStorageVersion sets the defaults of the storage version in an object of another version. A read from storage would
// set the same defaults: a client that reads the object and writes it back unchanged then changes nothing.
//
// A custom resource keeps the defaults of the version in which it was written, as in kube-apiserver: those of the
// storage version are set when it is read.
func (a *Versions[T]) ToStorageVersion(obj T) (T, error) {
	if a.Storage.Info.Untyped {
		return obj, nil
	}
	data, err := a.Encode(obj)
	if err != nil {
		return obj, err
	}
	d, err := a.Storage.codec.decode(data, a.NewHub(), false)
	return d.Object, err
}

// SetDefaults sets the defaults of the storage version in a custom resource, whose status a creation has removed: a
// read would set them. An object of another version keeps the defaults of that version, as ToStorageVersion has it, and
// one of a Go type gets them from EncodeStored.
func (a *Versions[T]) SetDefaults(from *Served[T], obj T) error {
	if from.Key != a.Storage.Key || a.Storage.setDefaults == nil {
		return nil
	}
	return a.Storage.setDefaults(obj)
}

// EncodeStored encodes, as Encode does, what storage keeps of an object, with the defaults of the storage version:
// since the object was decoded, the author's code or the removal of its status may have reset some, and a read would
// set them. Of a kind with protobuf in Kubernetes' own style it keeps what kube-apiserver keeps, which stores protobuf:
// it sets an empty list to null or its default, and a null in a map of bytes to empty bytes. It may change the object.
// A custom resource gets no defaults here: see SetDefaults.
func (a *Versions[T]) EncodeStored(obj T) ([]byte, error) {
	return a.Storage.codec.store(obj, a.Storage.GVK, a.Storage.lead)
}

// complete returns an object in the version, with its defaults.
func (c *typed[T, V]) complete(obj T) (V, error) {
	out, err := c.version(obj)
	if err == nil {
		c.setDefaults(out)
	}
	return out, err
}

// message finds the version of an object that is stored in protobuf, and its message.
func (a *Versions[T]) message(data []byte) (*Served[T], []byte, error) {
	for i := range a.Served {
		v := &a.Served[i]
		if message, ok := wire.CutEnvelope(data, v.heads[verb.Protobuf]); ok {
			return v, message, v.checkProtobuf()
		}
	}
	message, gvk, err := wire.OpenEnvelope(data)
	if err != nil {
		return nil, nil, err
	}
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	v, err := a.called(kind, apiVersion)
	if err != nil {
		return nil, nil, err
	}
	return v, message, v.checkProtobuf()
}

func (v *Served[T]) checkProtobuf() error {
	if v.messages != nil {
		return nil
	}
	return fmt.Errorf("it is stored as Kubernetes protobuf, which the Go type of %s can't be read from: "+
		"it has no methods Size, Marshal and Unmarshal", v.GVK)
}

// decodeMessage is decode for a message in protobuf.
func (c *typed[T, V]) decodeMessage(message []byte, hub T) (d Decoded[T], err error) {
	obj := c.New()
	if err = c.Proto.unmarshal(message, obj); err == nil {
		d.Object, err = c.toHub(obj, hub, nil, true)
	}
	return d, err
}

// StoredIn returns the encoding in which objects are stored where a server prefers one: JSON where the type of the
// storage version has no protobuf, or has metadata that isn't where Kubernetes has it, and where objects are treated as
// custom resources, of which protobuf doesn't show what a client sent.
func (a *Versions[T]) StoredIn(preferred verb.Encoding) verb.Encoding {
	m := a.Storage.messages
	if preferred == verb.Protobuf && m != nil && a.Storage.jsonForm() == nil && m.keepsProtobuf() {
		return verb.Protobuf
	}
	return verb.JSON
}

func (c *typed[T, V]) keepsProtobuf() bool {
	const revision = 1 << 40
	obj := c.New()
	plain, err := c.Proto.marshal(obj)
	if err != nil {
		return false
	}
	obj.SetResourceVersion(strconv.Itoa(revision))
	stamped, err := c.Proto.marshal(obj)
	return err == nil && rendition.CanStamp(plain, stamped, revision)
}

// HeadIn returns the head of a whole object of the version in an encoding.
func (v *Served[T]) HeadIn(encoding verb.Encoding) string { return v.heads[encoding] }

// EncodeMessage encodes what storage keeps of an object, as EncodeStored does, in protobuf and its envelope. What it
// returns decodes to an object of which it returns the same bytes: marshaling a null in a map of bytes does not.
func (a *Versions[T]) EncodeMessage(obj T) ([]byte, error) {
	if a.Storage.messages == nil {
		return nil, errNoMessage
	}
	message, err := a.Storage.messages.storeMessage(obj)
	if err != nil {
		return nil, err
	}
	return wire.Enveloped(a.Storage.heads[verb.Protobuf], message), nil
}

func (c *typed[T, V]) storeMessage(obj T) ([]byte, error) {
	in, err := c.complete(obj)
	if err != nil {
		return nil, err
	}
	if c.floats() {
		// Protobuf has NaN and infinity, JSON has not: no list of such an object could be shown in JSON.
		if _, err := json.Marshal(in); err != nil {
			return nil, err
		}
	}
	out, err := c.reread(in)
	if err != nil {
		return nil, err
	}
	return c.message(out)
}

// store encodes an object with the version's defaults. One in Kubernetes' own style is encoded as kube-apiserver reads
// it back from protobuf. Only an object with a null in a map or an empty list changes on that way, so store spares all
// others. An empty map that is never omitted would change, too, but no kind of Kubernetes has one, and most have an
// empty struct, which looks the same in JSON.
func (c *typed[T, V]) store(obj T, gvk schema.GroupVersionKind, head string) ([]byte, error) {
	in, err := c.complete(obj)
	if err != nil {
		return nil, err
	}
	data, err := c.encodeWhole(in, gvk, head)
	if err != nil || c.Proto.marshal == nil || c.Custom {
		return data, err
	}
	if !(hasMember(data, `":null`) && c.nulls()) && !hasMember(data, `":[]`) {
		return data, nil
	}
	out, err := c.reread(in)
	if err != nil {
		return nil, err
	}
	return c.encodeWhole(out, gvk, head)
}

// reread returns an object as it is read back from protobuf, with the version's defaults.
func (c *typed[T, V]) reread(in V) (out V, err error) {
	message, err := c.message(in)
	if err != nil {
		return out, err
	}
	out = c.New()
	if err := c.Proto.unmarshal(message, out); err != nil {
		return out, err
	}
	out.SetSelfLink(in.GetSelfLink())
	c.setDefaults(out)
	return out, nil
}

// hasMember reports whether JSON without white space has a member that ends with end: the quote after its key, a colon
// and its value. It passes over JSON in a string, as kubectl puts it into an annotation, where the quote is escaped.
func hasMember(data []byte, end string) bool {
	for {
		at := bytes.Index(data, []byte(end))
		if at < 0 {
			return false
		}
		backslashes := at - len(bytes.TrimRight(data[:at], `\`))
		if backslashes%2 == 0 {
			return true
		}
		data = data[at+len(end):]
	}
}

// holds reports whether values of a type may hold values of a type that is wanted. It passes over seen types.
func holds(t reflect.Type, wanted func(reflect.Type) bool, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if wanted(t) {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holds(t.Elem(), wanted, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if field := t.Field(i); field.IsExported() && holds(field.Type, wanted, seen) {
				return true
			}
		}
	}
	return false
}

func isFloat(t reflect.Type) bool { return t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64 }

// hasNulls reports whether a type is a map whose values may be null.
func hasNulls(t reflect.Type) bool {
	if t.Kind() != reflect.Map {
		return false
	}
	switch t.Elem().Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return true
	}
	return false
}

// ToJSON renders in JSON what is a rendition of the form, in protobuf. The form's version may be that of another kind:
// see OrStorage.
func (a *Versions[T]) ToJSON(object verb.Rendition, form verb.Form) (verb.Rendition, error) {
	v := a.OrStorage(form.Version)
	if form.Shape.Plain() == verb.Metadata {
		return rendition.MetadataIn(verb.JSON, object, form.Shape)
	}
	d, err := v.decodeMessage(object.Payload, a.NewHub())
	if err != nil {
		return verb.Rendition{}, err
	}
	form.Encoding = verb.JSON
	return v.render(d.Object, form)
}

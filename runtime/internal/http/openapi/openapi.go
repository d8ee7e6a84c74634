// Package openapi encodes OpenAPI documents in protobuf, as clients of Kubernetes read them: in the messages that
// gnostic (github.com/google/gnostic-models) has for OpenAPI v2 and v3. What those messages are is a table here, so
// that a server doesn't link the code that gnostic generates to parse documents, and needn't read them as YAML.
//
// It knows no other package of the runtime.
package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// EncodeV2 returns the message openapi.v2.Document of a document in JSON. It fails where the document has a field that
// OpenAPI v2 doesn't have.
func EncodeV2(document []byte) ([]byte, error) { return encode(document, &v2[v2Document], v2) }

// EncodeV3 returns the message openapi.v3.Document of a document in JSON. It fails where the document has a field that
// OpenAPI v3 doesn't have.
func EncodeV3(document []byte) ([]byte, error) { return encode(document, &v3[v3Document], v3) }

func encode(document []byte, root *message, messages []message) ([]byte, error) {
	v, err := parse(document)
	if err != nil {
		return nil, err
	}
	return (&encoder{messages}).message(nil, v, root)
}

// message describes how an object becomes a protobuf message.
type message struct {
	// fields are in the order of their numbers.
	fields []field
	// entries are the members with other names, of which each becomes a message with the name in field 1, and the value
	// in field 2. A key that begins with "x-" is never an entry of a message that has extensions.
	entries field
	// extensions is the number of the field for members whose names begin with "x-"; 0 for none.
	extensions protowire.Number
	// choose returns the field that a value is written to, if the message is a choice between fields. Field 0 is none.
	choose func(v *value) (field, error)
}

// field is a field of a message, and the member of an object that it has.
type field struct {
	key    string
	number protowire.Number
	form   form
	// of is the message of forms one and list.
	of int
}

// form is the form of a field's value.
type form int

const (
	text form = iota + 1
	texts
	boolean
	number
	integer
	// anything is a message Any, with JSON in the field 2, and anythings a list of them.
	anything
	anythings
	// one is a message, list several ones.
	one
	list
	// chosenBoolean is a boolean that is written even if it is false, chosenText and chosenNumber likewise.
	chosenBoolean
	chosenText
	chosenNumber
)

type encoder struct{ messages []message }

// message appends the fields of a message.
func (e *encoder) message(out []byte, v *value, m *message) ([]byte, error) {
	if m.choose != nil {
		f, err := m.choose(v)
		if err != nil || f.number == 0 {
			return out, err
		}
		return e.field(out, v, &f)
	}
	if v.kind != '{' {
		return nil, fmt.Errorf("is %s, and must be an object", v.raw)
	}
	if err := m.check(v); err != nil {
		return nil, err
	}
	var err error
	before := protowire.Number(0)
	for i := range m.fields {
		f := &m.fields[i]
		if out, err = e.others(out, v, m, before, f.number); err != nil {
			return nil, err
		}
		before = f.number
		if member := v.member(f.key); member != nil {
			if out, err = e.field(out, member, f); err != nil {
				return nil, fmt.Errorf("%s: %w", f.key, err)
			}
		}
	}
	return e.others(out, v, m, before, protowire.MaxValidNumber)
}

// check refuses members that the message doesn't have.
func (m *message) check(v *value) error {
	for i := range v.members {
		if key := v.members[i].key; m.field(key) == nil && !m.isExtension(key) && m.entries.number == 0 {
			return fmt.Errorf("has the field %s, which OpenAPI doesn't have here", key)
		}
	}
	return nil
}

func (m *message) field(key string) *field {
	for i := range m.fields {
		if m.fields[i].key == key {
			return &m.fields[i]
		}
	}
	return nil
}

func (m *message) isExtension(key string) bool {
	return m.extensions != 0 && strings.HasPrefix(key, "x-")
}

// others appends the entries and the extensions, if their numbers are between two.
func (e *encoder) others(out []byte, v *value, m *message, after, before protowire.Number) ([]byte, error) {
	within := func(n protowire.Number) bool { return n > after && n < before }
	var err error
	appendAll := func(n protowire.Number, extensions bool, entry field) {
		for i := range v.members {
			member := &v.members[i]
			if err != nil || m.isExtension(member.key) != extensions || m.field(member.key) != nil {
				continue
			}
			named := protowire.AppendTag(nil, 1, protowire.BytesType)
			named = protowire.AppendString(named, member.key)
			if named, err = e.field(named, &member.value, &entry); err != nil {
				err = fmt.Errorf("%s: %w", member.key, err)
				return
			}
			out = appendMessage(out, n, named)
		}
	}
	first, second := m.entries.number, m.extensions
	entry := field{number: 2, form: m.entries.form, of: m.entries.of}
	extension := field{number: 2, form: anything}
	if within(first) && (first < second || !within(second)) {
		appendAll(first, false, entry)
		first = 0
	}
	if within(second) {
		appendAll(second, true, extension)
	}
	if within(first) {
		appendAll(first, false, entry)
	}
	return out, err
}

func appendMessage(out []byte, n protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(out, n, protowire.BytesType), message)
}

// field appends a field. Values that a message has anyway are left out.
func (e *encoder) field(out []byte, v *value, f *field) ([]byte, error) {
	switch f.form {
	case text, chosenText:
		s, err := v.text()
		if err != nil || s == "" && f.form == text {
			return out, err
		}
		return appendMessage(out, f.number, []byte(s)), nil
	case boolean, chosenBoolean:
		if v.kind != 't' && v.kind != 'f' {
			return nil, fmt.Errorf("is %s, and must be true or false", v.raw)
		}
		if v.kind == 'f' && f.form == boolean {
			return out, nil
		}
		return protowire.AppendVarint(protowire.AppendTag(out, f.number, protowire.VarintType),
			protowire.EncodeBool(v.kind == 't')), nil
	case number, chosenNumber:
		return v.appendNumber(out, f)
	case integer:
		n, err := strconv.ParseInt(string(v.raw), 10, 64)
		if err != nil || n == 0 {
			return out, err
		}
		return protowire.AppendVarint(protowire.AppendTag(out, f.number, protowire.VarintType), uint64(n)), nil
	case anything:
		return appendMessage(out, f.number, appendMessage(nil, 2, v.raw)), nil
	case one:
		message, err := e.message(nil, v, &e.messages[f.of])
		if err != nil {
			return nil, err
		}
		return appendMessage(out, f.number, message), nil
	}
	return e.items(out, v, f)
}

// items appends the items of a list.
func (e *encoder) items(out []byte, v *value, f *field) (_ []byte, err error) {
	if v.kind != '[' {
		return nil, fmt.Errorf("is %s, and must be a list", v.raw)
	}
	item := field{number: f.number, of: f.of}
	switch f.form {
	case texts:
		item.form = chosenText
	case anythings:
		item.form = anything
	default:
		item.form = one
	}
	for i := range v.items {
		if out, err = e.field(out, &v.items[i], &item); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
	}
	return out, nil
}

// value is a value in JSON.
type value struct {
	// kind is the first byte of the value, 0 for a number.
	kind    byte
	raw     []byte
	members []member
	items   []value
}

type member struct {
	key string
	value
}

func (v *value) member(key string) *value {
	for i := range v.members {
		if v.members[i].key == key {
			return &v.members[i].value
		}
	}
	return nil
}

func (v *value) text() (s string, err error) {
	if v.kind != '"' {
		return "", fmt.Errorf("is %s, and must be text", v.raw)
	}
	err = json.Unmarshal(v.raw, &s)
	return s, err
}

// is reports whether a member is some text.
func (v *value) is(key, want string) bool {
	member := v.member(key)
	if member == nil {
		return false
	}
	s, err := member.text()
	return err == nil && s == want
}

func (v *value) appendNumber(out []byte, f *field) ([]byte, error) {
	n, err := strconv.ParseFloat(string(v.raw), 64)
	if err != nil || n == 0 && f.form == number {
		return out, err
	}
	return protowire.AppendFixed64(protowire.AppendTag(out, f.number, protowire.Fixed64Type), math.Float64bits(n)), nil
}

// parse reads JSON, in which objects keep the order of their members.
func parse(data []byte) (*value, error) {
	p := &parser{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	p.decoder.UseNumber()
	v := &value{}
	if err := p.value(v); err != nil {
		return nil, err
	}
	return v, nil
}

type parser struct {
	data    []byte
	decoder *json.Decoder
}

func (p *parser) value(v *value) error {
	start := p.decoder.InputOffset()
	token, err := p.decoder.Token()
	if err != nil {
		return err
	}
	start += int64(len(p.data[start:]) - len(bytes.TrimLeft(p.data[start:], " \t\r\n,:")))
	switch token := token.(type) {
	case json.Delim:
		err = p.inner(v, token)
	case json.Number:
	default:
		v.kind = p.data[start]
	}
	v.raw = p.data[start:p.decoder.InputOffset()]
	return err
}

// inner reads what is in an object or a list, and its end.
func (p *parser) inner(v *value, begin json.Delim) error {
	v.kind = byte(begin)
	for p.decoder.More() {
		if begin == '[' {
			v.items = append(v.items, value{})
			if err := p.value(&v.items[len(v.items)-1]); err != nil {
				return err
			}
			continue
		}
		key, err := p.decoder.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return errors.New("a member of an object has no name")
		}
		v.members = append(v.members, member{key: name})
		if err := p.value(&v.members[len(v.members)-1].value); err != nil {
			return err
		}
	}
	_, err := p.decoder.Token()
	return err
}

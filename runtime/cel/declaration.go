package cel

import (
	"math"
	"slices"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// declaration is the type of a schema in expressions, and the bounds of its values' sizes.
type declaration struct {
	schema *Schema
	typ    *celgo.Type
	// fields are the fields of an object, by their escaped names.
	fields map[string]*declaration
	// key and elem are the types in lists and maps.
	key, elem *declaration
	// most bounds the number of elements, bytes or characters of a value from above, least the bytes of its JSON from
	// below.
	most, least int64
}

// Sizes in JSON.
const (
	leastString, leastBool, leastNumber       = 2, 4, 1
	leastDuration, leastDateTime, sizeOfDate  = 3, 21, 12
	mostDuration, mostDateTime, mostRequested = 32, 32, requestLimit - 2
)

// declare returns the declaration of a schema, or nil where expressions can't use its values. path names the types of
// objects, and must be unique. resource is true for the root of an object.
func declare(s *Schema, path string, resource bool) *declaration {
	if s == nil {
		return nil
	}
	if s.IntOrString {
		return &declaration{schema: s, typ: celgo.DynType, most: characters(s, mostRequested), least: 1}
	}
	if resource {
		s = s.asResource()
	}
	switch s.Type {
	case "object":
		if s.Values != nil {
			return declareMap(s, path)
		}
		return declareObject(s, path)
	case "array":
		return declareList(s, path)
	case "string":
		return declareString(s)
	case "boolean":
		return &declaration{schema: s, typ: celgo.BoolType, least: leastBool}
	case "number":
		return &declaration{schema: s, typ: celgo.DoubleType, least: leastNumber}
	case "integer":
		return &declaration{schema: s, typ: celgo.IntType, least: leastNumber}
	}
	return nil
}

func declareList(s *Schema, path string) *declaration {
	if s.Items == nil {
		return nil
	}
	elem := declare(s.Items, path+".@idx", s.Items.EmbeddedResource)
	if elem == nil {
		return nil
	}
	most := bound(s.MaxItems, (requestLimit-2)/(elem.least+1))
	return &declaration{schema: s, typ: celgo.ListType(elem.typ), elem: elem, most: most, least: 2}
}

func declareMap(s *Schema, path string) *declaration {
	elem := declare(s.Values, path+".@elem", s.Values.EmbeddedResource)
	if elem == nil {
		return nil
	}
	most := bound(s.MaxProperties, (requestLimit-2)/(elem.least+6))
	// Keys have no bound: their size is that of a string type without a length.
	key := &declaration{schema: text, typ: celgo.StringType, least: leastString}
	return &declaration{schema: s, typ: celgo.MapType(celgo.StringType, elem.typ), key: key, elem: elem, most: most,
		least: 2}
}

// declareObject omits the fields that expressions can't see, or can't name.
func declareObject(s *Schema, path string) *declaration {
	d := &declaration{schema: s, typ: celgo.ObjectType(path), fields: make(map[string]*declaration, len(s.Properties)),
		least: 2}
	for name, p := range s.Properties {
		field := declare(p, path+"."+name, p.EmbeddedResource)
		if field == nil {
			continue
		}
		if escaped, ok := Escape(name); ok {
			d.fields[escaped] = field
		}
		if !p.Defaulted && slices.Contains(s.Required, name) {
			d.least += int64(len(name)) + field.least + 4
		}
	}
	return d
}

func declareString(s *Schema) *declaration {
	switch s.Format {
	case "byte":
		most := bound(s.MaxLength, mostRequested)
		return &declaration{schema: s, typ: celgo.BytesType, most: most, least: leastString}
	case "duration":
		return &declaration{schema: s, typ: celgo.DurationType, most: mostDuration, least: leastDuration}
	case "date":
		return &declaration{schema: s, typ: celgo.TimestampType, most: sizeOfDate, least: sizeOfDate}
	case "date-time":
		return &declaration{schema: s, typ: celgo.TimestampType, most: mostDateTime, least: leastDateTime}
	}
	most := int64(mostRequested)
	if len(s.Enum) > 0 {
		most = 0
		for _, v := range s.Enum {
			most = max(most, int64(len(v)))
		}
	}
	return &declaration{schema: s, typ: celgo.StringType, most: characters(s, most), least: leastString}
}

// bound returns a bound of a schema, or another one where the schema has none.
func bound(limit *int64, otherwise int64) int64 {
	if limit == nil {
		return otherwise
	}
	return max(0, *limit)
}

// characters returns the number of bytes that text has at most: MaxLength counts characters, of four bytes at most.
func characters(s *Schema, unbounded int64) int64 {
	if s.MaxLength == nil {
		return unbounded
	}
	return max(0, min(*s.MaxLength, math.MaxInt64/4)) * 4
}

func (d *declaration) objects(into map[string]*declaration) {
	if d == nil {
		return
	}
	if d.fields != nil {
		into[d.typ.TypeName()] = d
	}
	for _, f := range d.fields {
		f.objects(into)
	}
	d.elem.objects(into)
}

// provider gives the checker the fields of objects, and leaves all other types to another provider.
type provider struct {
	types.Provider
	objects map[string]*declaration
}

func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if d, ok := p.objects[name]; ok {
		return types.NewTypeTypeWithParam(d.typ), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames returns no names: expressions can't make objects.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if _, ok := p.objects[name]; ok {
		return nil, false
	}
	return p.Provider.FindStructFieldNames(name)
}

func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	d, ok := p.objects[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, field)
	}
	f, ok := d.fields[field]
	if !ok && reserved[field] { // behind a dot, a reserved word needs no escape
		f, ok = d.fields["__"+field+"__"]
	}
	if !ok {
		return nil, false
	}
	return &types.FieldType{Type: f.typ}, true
}

func typed(root *declaration) (*celgo.Env, error) {
	env, err := base()
	if err != nil {
		return nil, err
	}
	objects := map[string]*declaration{}
	root.objects(objects)
	return env.Extend(celgo.CustomTypeProvider(&provider{Provider: env.CELTypeProvider(), objects: objects}))
}

package openapi

// The messages of openapi.v3 that documents of servers are made of.
const (
	v3Document = iota
	v3Info
	v3Contact
	v3License
	v3Server
	v3ServerVariables
	v3ServerVariable
	v3Paths
	v3PathItem
	v3Operation
	v3ExternalDocs
	v3ParameterOrReference
	v3Parameter
	v3Reference
	v3RequestBodyOrReference
	v3RequestBody
	v3MediaTypes
	v3MediaType
	v3Encodings
	v3Encoding
	v3Responses
	v3ResponseOrReference
	v3Response
	v3HeadersOrReferences
	v3HeaderOrReference
	v3Header
	v3ExamplesOrReferences
	v3ExampleOrReference
	v3Example
	v3SchemaOrReference
	v3Schema
	v3Discriminator
	v3XML
	v3Items
	v3Properties
	v3AdditionalProperties
	v3Default
	v3Strings
	v3Components
	v3Schemas
	v3ResponsesOrReferences
	v3ParametersOrReferences
	v3RequestBodiesOrReferences
	v3SecuritySchemes
	v3SecuritySchemeOrReference
	v3SecurityScheme
	v3OauthFlows
	v3OauthFlow
	v3SecurityRequirement
	v3StringArray
	v3Tag
)

// orReference chooses between a message in field 1 and a reference in field 2.
func orReference(of int) func(*value) (field, error) {
	return func(v *value) (field, error) {
		if v.member("$ref") != nil {
			return field{number: 2, form: one, of: v3Reference}, nil
		}
		return field{number: 1, form: one, of: of}, nil
	}
}

// entriesOf is a message with any members, which are messages.
func entriesOf(of int) message { return message{entries: field{number: 1, form: one, of: of}} }

// Links and callbacks are not among the messages: no document of a server has them.
var v3 = []message{
	v3Document: {extensions: 9, fields: []field{
		{"openapi", 1, text, 0}, {"info", 2, one, v3Info}, {"servers", 3, list, v3Server}, {"paths", 4, one, v3Paths},
		{"components", 5, one, v3Components}, {"security", 6, list, v3SecurityRequirement}, {"tags", 7, list, v3Tag},
		{"externalDocs", 8, one, v3ExternalDocs},
	}},
	v3Info: {extensions: 7, fields: []field{
		{"title", 1, text, 0}, {"description", 2, text, 0}, {"termsOfService", 3, text, 0},
		{"contact", 4, one, v3Contact}, {"license", 5, one, v3License}, {"version", 6, text, 0},
		{"summary", 8, text, 0},
	}},
	v3Contact: {extensions: 4, fields: []field{{"name", 1, text, 0}, {"url", 2, text, 0}, {"email", 3, text, 0}}},
	v3License: {extensions: 3, fields: []field{{"name", 1, text, 0}, {"url", 2, text, 0}}},
	v3Server: {extensions: 4, fields: []field{
		{"url", 1, text, 0}, {"description", 2, text, 0}, {"variables", 3, one, v3ServerVariables},
	}},
	v3ServerVariables: entriesOf(v3ServerVariable),
	v3ServerVariable: {extensions: 4, fields: []field{
		{"enum", 1, texts, 0}, {"default", 2, text, 0}, {"description", 3, text, 0},
	}},
	v3Paths: {extensions: 2, entries: field{"", 1, one, v3PathItem}},
	v3PathItem: {extensions: 14, fields: []field{
		{"$ref", 1, text, 0}, {"summary", 2, text, 0}, {"description", 3, text, 0}, {"get", 4, one, v3Operation},
		{"put", 5, one, v3Operation}, {"post", 6, one, v3Operation}, {"delete", 7, one, v3Operation},
		{"options", 8, one, v3Operation}, {"head", 9, one, v3Operation}, {"patch", 10, one, v3Operation},
		{"trace", 11, one, v3Operation}, {"servers", 12, list, v3Server},
		{"parameters", 13, list, v3ParameterOrReference},
	}},
	v3Operation: {extensions: 13, fields: []field{
		{"tags", 1, texts, 0}, {"summary", 2, text, 0}, {"description", 3, text, 0},
		{"externalDocs", 4, one, v3ExternalDocs}, {"operationId", 5, text, 0},
		{"parameters", 6, list, v3ParameterOrReference}, {"requestBody", 7, one, v3RequestBodyOrReference},
		{"responses", 8, one, v3Responses}, {"deprecated", 10, boolean, 0},
		{"security", 11, list, v3SecurityRequirement}, {"servers", 12, list, v3Server},
	}},
	v3ExternalDocs:         {extensions: 3, fields: []field{{"description", 1, text, 0}, {"url", 2, text, 0}}},
	v3ParameterOrReference: {choose: orReference(v3Parameter)},
	v3Parameter: {extensions: 14, fields: []field{
		{"name", 1, text, 0}, {"in", 2, text, 0}, {"description", 3, text, 0}, {"required", 4, boolean, 0},
		{"deprecated", 5, boolean, 0}, {"allowEmptyValue", 6, boolean, 0}, {"style", 7, text, 0},
		{"explode", 8, boolean, 0}, {"allowReserved", 9, boolean, 0}, {"schema", 10, one, v3SchemaOrReference},
		{"example", 11, anything, 0}, {"examples", 12, one, v3ExamplesOrReferences},
		{"content", 13, one, v3MediaTypes},
	}},
	v3Reference: {fields: []field{
		{"$ref", 1, text, 0}, {"summary", 2, text, 0}, {"description", 3, text, 0},
	}},
	v3RequestBodyOrReference: {choose: orReference(v3RequestBody)},
	v3RequestBody: {extensions: 4, fields: []field{
		{"description", 1, text, 0}, {"content", 2, one, v3MediaTypes}, {"required", 3, boolean, 0},
	}},
	v3MediaTypes: entriesOf(v3MediaType),
	v3MediaType: {extensions: 5, fields: []field{
		{"schema", 1, one, v3SchemaOrReference}, {"example", 2, anything, 0},
		{"examples", 3, one, v3ExamplesOrReferences}, {"encoding", 4, one, v3Encodings},
	}},
	v3Encodings: entriesOf(v3Encoding),
	v3Encoding: {extensions: 6, fields: []field{
		{"contentType", 1, text, 0}, {"headers", 2, one, v3HeadersOrReferences}, {"style", 3, text, 0},
		{"explode", 4, boolean, 0}, {"allowReserved", 5, boolean, 0},
	}},
	v3Responses: {
		extensions: 3, entries: field{"", 2, one, v3ResponseOrReference},
		fields: []field{{"default", 1, one, v3ResponseOrReference}},
	},
	v3ResponseOrReference: {choose: orReference(v3Response)},
	v3Response: {extensions: 5, fields: []field{
		{"description", 1, text, 0}, {"headers", 2, one, v3HeadersOrReferences}, {"content", 3, one, v3MediaTypes},
	}},
	v3HeadersOrReferences: entriesOf(v3HeaderOrReference),
	v3HeaderOrReference:   {choose: orReference(v3Header)},
	v3Header: {extensions: 12, fields: []field{
		{"description", 1, text, 0}, {"required", 2, boolean, 0}, {"deprecated", 3, boolean, 0},
		{"allowEmptyValue", 4, boolean, 0}, {"style", 5, text, 0}, {"explode", 6, boolean, 0},
		{"allowReserved", 7, boolean, 0}, {"schema", 8, one, v3SchemaOrReference}, {"example", 9, anything, 0},
		{"examples", 10, one, v3ExamplesOrReferences}, {"content", 11, one, v3MediaTypes},
	}},
	v3ExamplesOrReferences: entriesOf(v3ExampleOrReference),
	v3ExampleOrReference:   {choose: orReference(v3Example)},
	v3Example: {extensions: 5, fields: []field{
		{"summary", 1, text, 0}, {"description", 2, text, 0}, {"value", 3, anything, 0},
		{"externalValue", 4, text, 0},
	}},
	v3SchemaOrReference: {choose: orReference(v3Schema)},
	v3Schema: {extensions: 36, fields: []field{
		{"nullable", 1, boolean, 0}, {"discriminator", 2, one, v3Discriminator}, {"readOnly", 3, boolean, 0},
		{"writeOnly", 4, boolean, 0}, {"xml", 5, one, v3XML}, {"externalDocs", 6, one, v3ExternalDocs},
		{"example", 7, anything, 0}, {"deprecated", 8, boolean, 0}, {"title", 9, text, 0},
		{"multipleOf", 10, number, 0}, {"maximum", 11, number, 0}, {"exclusiveMaximum", 12, boolean, 0},
		{"minimum", 13, number, 0}, {"exclusiveMinimum", 14, boolean, 0}, {"maxLength", 15, integer, 0},
		{"minLength", 16, integer, 0}, {"pattern", 17, text, 0}, {"maxItems", 18, integer, 0},
		{"minItems", 19, integer, 0}, {"uniqueItems", 20, boolean, 0}, {"maxProperties", 21, integer, 0},
		{"minProperties", 22, integer, 0}, {"required", 23, texts, 0}, {"enum", 24, anythings, 0},
		{"type", 25, text, 0}, {"allOf", 26, list, v3SchemaOrReference}, {"oneOf", 27, list, v3SchemaOrReference},
		{"anyOf", 28, list, v3SchemaOrReference}, {"not", 29, one, v3Schema}, {"items", 30, one, v3Items},
		{"properties", 31, one, v3Properties}, {"additionalProperties", 32, one, v3AdditionalProperties},
		{"default", 33, one, v3Default}, {"description", 34, text, 0}, {"format", 35, text, 0},
	}},
	v3Discriminator: {extensions: 3, fields: []field{{"propertyName", 1, text, 0}, {"mapping", 2, one, v3Strings}}},
	v3XML: {extensions: 6, fields: []field{
		{"name", 1, text, 0}, {"namespace", 2, text, 0}, {"prefix", 3, text, 0}, {"attribute", 4, boolean, 0},
		{"wrapped", 5, boolean, 0},
	}},
	v3Items: {choose: func(*value) (field, error) {
		return field{number: 1, form: one, of: v3SchemaOrReference}, nil
	}},
	v3Properties: entriesOf(v3SchemaOrReference),
	v3AdditionalProperties: {choose: func(v *value) (field, error) {
		if v.kind == '{' {
			return field{number: 1, form: one, of: v3SchemaOrReference}, nil
		}
		return field{number: 2, form: chosenBoolean}, nil
	}},
	v3Default: {choose: func(v *value) (field, error) {
		switch v.kind {
		case 0:
			return field{number: 1, form: chosenNumber}, nil
		case 't', 'f':
			return field{number: 2, form: chosenBoolean}, nil
		case '"':
			return field{number: 3, form: chosenText}, nil
		}
		return field{}, nil // the message has no lists and objects
	}},
	v3Strings: {entries: field{"", 1, text, 0}},
	v3Components: {extensions: 10, fields: []field{
		{"schemas", 1, one, v3Schemas}, {"responses", 2, one, v3ResponsesOrReferences},
		{"parameters", 3, one, v3ParametersOrReferences}, {"examples", 4, one, v3ExamplesOrReferences},
		{"requestBodies", 5, one, v3RequestBodiesOrReferences}, {"headers", 6, one, v3HeadersOrReferences},
		{"securitySchemes", 7, one, v3SecuritySchemes},
	}},
	v3Schemas:                   entriesOf(v3SchemaOrReference),
	v3ResponsesOrReferences:     entriesOf(v3ResponseOrReference),
	v3ParametersOrReferences:    entriesOf(v3ParameterOrReference),
	v3RequestBodiesOrReferences: entriesOf(v3RequestBodyOrReference),
	v3SecuritySchemes:           entriesOf(v3SecuritySchemeOrReference),
	v3SecuritySchemeOrReference: {choose: orReference(v3SecurityScheme)},
	v3SecurityScheme: {extensions: 9, fields: []field{
		{"type", 1, text, 0}, {"description", 2, text, 0}, {"name", 3, text, 0}, {"in", 4, text, 0},
		{"scheme", 5, text, 0}, {"bearerFormat", 6, text, 0}, {"flows", 7, one, v3OauthFlows},
		{"openIdConnectUrl", 8, text, 0},
	}},
	v3OauthFlows: {extensions: 5, fields: []field{
		{"implicit", 1, one, v3OauthFlow}, {"password", 2, one, v3OauthFlow},
		{"clientCredentials", 3, one, v3OauthFlow}, {"authorizationCode", 4, one, v3OauthFlow},
	}},
	v3OauthFlow: {extensions: 5, fields: []field{
		{"authorizationUrl", 1, text, 0}, {"tokenUrl", 2, text, 0}, {"refreshUrl", 3, text, 0},
		{"scopes", 4, one, v3Strings},
	}},
	v3SecurityRequirement: entriesOf(v3StringArray),
	v3StringArray:         {choose: func(*value) (field, error) { return field{number: 1, form: texts}, nil }},
	v3Tag: {extensions: 4, fields: []field{
		{"name", 1, text, 0}, {"description", 2, text, 0}, {"externalDocs", 3, one, v3ExternalDocs},
	}},
}

package openapi

import (
	"apigen.dev/generator/schema"
)

// descriptions are the descriptions of the well-known types that are components of a document.
var descriptions = map[schema.WellKnown]string{
	schema.Time:      "Time is a moment, written as RFC 3339 in whole seconds.",
	schema.MicroTime: "MicroTime is a moment, written as RFC 3339 in microseconds.",
	schema.Duration:  "Duration is a span of time as Go writes it: 1h30m.",
	schema.FieldsV1: "FieldsV1 is a set of fields: a tree whose keys are f:<name> for a field, k:<keys> for an item " +
		"of a list by its keys, v:<value> for one by its value, i:<index> for one by its place, and . " +
		"for the node itself.",
	schema.Patch: "Patch is the body of a patch, in the form that the content type names.",
	schema.Quantity: "Quantity is a number with a suffix: 100m, 1.5, 2Gi. The suffixes are n, u, m, k, M, G, T, P, " +
		"E, and Ki, Mi, Gi, Ti, Pi, Ei.",
	schema.IntOrStr:     "IntOrString is a whole number or a string.",
	schema.RawExtension: "RawExtension is an object of any kind.",
	schema.AnyJSON:      "JSON is any JSON value.",
	schema.AnyJSONBeta:  "JSON is any JSON value.",
}

// inStandardLibrary holds the well-known types whose schemas are written in place.
var inStandardLibrary = map[schema.WellKnown]bool{schema.GoTime: true, schema.RawMessage: true, schema.JSONNumber: true}

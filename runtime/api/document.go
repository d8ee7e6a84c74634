package api

import "apigen.dev/runtime/internal/jsondoc"

// Document is a JSON document that is embedded and served as it is: compressed, with a hash that was computed with it.
// The zero value means no document. It is immutable.
type Document = jsondoc.Document

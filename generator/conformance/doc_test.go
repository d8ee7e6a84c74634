package conformance

// The tests run the command, which is built from these. Their results must not be taken from the cache once one of
// them has changed.
import (
	_ "apigen.dev/generator"
	_ "apigen.dev/runtime/registry"
)

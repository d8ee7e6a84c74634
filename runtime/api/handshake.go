package api

// GeneratedCodeVersion1 is named by generated wiring, so that wiring and runtime that don't fit fail to compile. An
// error here means: run `apigen build ./...` with the apigen of the runtime's version, which go.mod decides.
const GeneratedCodeVersion1 = true

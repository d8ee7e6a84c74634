// Package agreement holds the kinds of the examples to what a custom resource of the same types does: see
// apigen.dev/runtime/internal/custom/agreement/trial.
package agreement

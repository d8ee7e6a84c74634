// Package templates holds the texts that `apigen init` writes files from: those of a new project, of a version that is
// added to it, and of a kind. It has no logic: package scaffold decides what is rendered, with what, and where it goes.
package templates

import "embed"

// FS holds the templates, as project/*, version/*, kind/* and reference/*.
//
//go:embed project version kind reference
var FS embed.FS

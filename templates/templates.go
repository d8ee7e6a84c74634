// Package templates holds the texts that files are written from: those of `apigen init` for a new project, for one that
// is adopted, for a version that is added to it, for a kind, for a package of another module that is served, and for a
// deployment behind a cluster; and those of generated files of fixed shape, the clients. It has no logic: package
// scaffold and the emitters decide what is rendered, with what, and where it goes.
package templates

import "embed"

// FS holds the templates, as adopt/*, project/*, version/*, kind/*, serve/*, deploy/*, copy/*, client/* and
// reference/*.
//
//go:embed adopt project version kind serve deploy copy client reference
var FS embed.FS

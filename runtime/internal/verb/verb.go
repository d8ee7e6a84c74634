// Package verb holds what the verbs of a resource take and return, whatever its Go type is: the forms in which objects
// are written and their renditions, options, bodies, pages, watches and results; and Info, what is known of the
// resource. Packages registry and endpoint meet here, and the caches and stores between them. It holds nouns, and no
// behaviour beyond reading them. It may know packages api and deflate.
package verb

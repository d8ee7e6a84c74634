package api

import (
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// Selection narrows a read. Nil selectors select everything.
type Selection struct {
	Labels labels.Selector
	Fields fields.Selector
}

// ListOptions are the parsed and validated query of a list; see metav1.ListOptions for what the fields mean.
type ListOptions struct {
	Selection
	ResourceVersion      string
	ResourceVersionMatch metav1.ResourceVersionMatch
	Limit                int64
	Continue             string
}

// Page is what a List returns. Its items can be read once or more until it is closed.
type Page struct {
	ResourceVersion string
	Continue        string
	// Remaining is nil where it is not known.
	Remaining *int64
	// Len is the number of items.
	Len int
	// Items yields the renditions in key order. All were rendered before the Page was returned: it cannot fail.
	Items iter.Seq[Rendition]
	// Blocks are the same items joined, where they are at hand in that form; else nil.
	Blocks []Block
	// Close gives back what the page borrowed.
	Close func()
}

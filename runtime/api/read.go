package api

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// Selection narrows a read. Nil selectors select everything.
type Selection struct {
	Labels labels.Selector
	Fields fields.Selector
}

// WatchOptions are the parsed and validated query of a watch.
type WatchOptions struct {
	Selection
	ResourceVersion   string
	AllowBookmarks    bool
	SendInitialEvents *bool
	// Corrupt asks for an event of the type Corrupt for each object whose stored value can't be read, and for an event
	// of the type Deleted, whose object has a name and no uid, when such an object is removed. Otherwise a corrupt
	// object ends the watch. Only stored resources support it, with an empty Selection.
	Corrupt bool
}

// EventType is that of a watch event on the wire.
type EventType string

// The types of watch events.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	Bookmark EventType = "BOOKMARK"
	// Corrupt is never on the wire: see WatchOptions. Its Object is no more than the metadata that the key tells.
	Corrupt EventType = "CORRUPT"
)

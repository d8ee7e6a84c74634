package store

import (
	"fmt"
	"path"
	"strings"
)

// Prefix returns the prefix of all keys: "/pods/".
func (s *Store[T]) Prefix() string { return s.root }

// key checks a key, or a prefix of keys, and returns it as the backend has it. Every read and write calls it, so it
// checks only what follows the resource's prefix, whose own segments New has checked.
func (s *Store[T]) key(key string) (string, error) {
	relative := strings.TrimPrefix(key, "/")
	own := s.root[1:]
	below, ok := strings.CutPrefix(relative, own)
	if !ok && relative == own[:len(own)-1] {
		below, ok = "", true
	}
	switch {
	case ok && (below == "" || hasSegments(below)):
		return s.prefix + below, nil
	case !ok && hasSegments(relative):
		return "", fmt.Errorf("invalid key: %q lacks resource prefix: %q", key, s.config.ResourcePrefix)
	}
	return "", fmt.Errorf("invalid key: %q", key)
}

// hasSegments tells whether a path, which may end in a slash, has neither empty segments nor dots as segments.
func hasSegments(path string) bool {
	path = strings.TrimSuffix(path, "/")
	for {
		end := strings.IndexByte(path, '/')
		segment := path
		if end >= 0 {
			segment = path[:end]
		}
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
		if end < 0 {
			return true
		}
		path = path[end+1:]
	}
}

// listPrefix is key for the keys below a key.
func (s *Store[T]) listPrefix(prefix string) (string, error) {
	key, err := s.key(prefix)
	if err != nil || strings.HasSuffix(key, "/") {
		return key, err
	}
	return key + "/", nil
}

// nameOf returns the last segment of a key.
func nameOf(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// checkResourcePrefix refuses a prefix that isn't a canonical path with a slash at its end. Without the slash, "pods"
// would be a prefix of "podtemplates/", too.
func checkResourcePrefix(prefix string) error {
	switch clean := CleanPrefix(prefix); {
	case clean == "":
		return fmt.Errorf("the store's ResourcePrefix is %q: it would cover keys of other resources; write one like %q",
			prefix, "pods/")
	case strings.TrimPrefix(prefix, "/") != clean+"/":
		return fmt.Errorf("the store's ResourcePrefix is %q: write %q", prefix, clean+"/")
	}
	return nil
}

// CleanPrefix returns a prefix of keys without dots and empty segments, and without slashes at both ends.
func CleanPrefix(prefix string) string { return strings.TrimPrefix(path.Clean("/"+prefix), "/") }

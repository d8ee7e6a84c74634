package webhookauth

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
)

// key returns what stands for a question in a cache. Questions that differ have different keys, unlike in JSON, which
// writes all bytes that aren't UTF-8 alike: the webhook then sees one question, but Match doesn't.
func (s *AccessReviewSpec) key() digest {
	k := keyText{}
	k = k.texts(s.User, s.UID).list(s.Groups).number(len(s.Extra))
	for _, name := range slices.Sorted(maps.Keys(s.Extra)) {
		k = k.texts(name).list(s.Extra[name])
	}
	if a := s.NonResourceAttributes; a != nil {
		k = k.texts("path", a.Path, a.Verb)
	}
	if a := s.ResourceAttributes; a != nil {
		k = k.texts("resource", a.Namespace, a.Verb, a.Group, a.Version, a.Resource, a.Subresource, a.Name)
		if f := a.FieldSelector; f != nil {
			k = k.texts("fields", f.RawSelector).number(len(f.Requirements))
			for _, r := range f.Requirements {
				k = k.texts(r.Key, string(r.Operator)).list(r.Values)
			}
		}
		if l := a.LabelSelector; l != nil {
			k = k.texts("labels", l.RawSelector).number(len(l.Requirements))
			for _, r := range l.Requirements {
				k = k.texts(r.Key, string(r.Operator)).list(r.Values)
			}
		}
	}
	return sha256.Sum256(k)
}

// keyText is a sequence of texts and numbers that can be read back: each text has its length before it.
type keyText []byte

func (k keyText) number(n int) keyText { return binary.AppendUvarint(k, uint64(n)) }

func (k keyText) texts(all ...string) keyText {
	for _, text := range all {
		k = append(k.number(len(text)), text...)
	}
	return k
}

func (k keyText) list(all []string) keyText { return k.number(len(all)).texts(all...) }

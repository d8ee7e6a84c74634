package ownership

import (
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// maxSets bounds the bytes of the encoded sets in each of the two generations of a Sets.
const maxSets = 256 << 10

// Sets caches field sets by their encoded form. The objects of a resource have few different ones, and decoding them
// would cost more than all other work of field management on a small write. The zero value is ready. Sets is safe for
// concurrent use. The sets that it returns are shared and must not be changed.
type Sets struct {
	mu sync.Mutex
	// young has the sets used since it was begun, old those before: a set that isn't used for two generations is
	// dropped.
	young, old map[string]*known
	size       int
}

// known is a cached set, with the versions for whose schema it is known to be right.
type known struct {
	set        *fieldpath.Set
	reconciled []fieldpath.APIVersion
}

// find returns a cached set, or nil. The caller holds the lock.
func (s *Sets) find(raw string) *known {
	if k := s.young[raw]; k != nil {
		return k
	}
	k := s.old[raw]
	if k != nil {
		s.keep(raw, k)
	}
	return k
}

// keep caches a set. The caller holds the lock.
func (s *Sets) keep(raw string, k *known) {
	if len(raw) > maxSets/8 {
		return
	}
	if s.young == nil || s.size+len(raw) > maxSets {
		s.old, s.young, s.size = s.young, map[string]*known{}, 0
	}
	s.young[raw] = k
	s.size += len(raw)
}

func (s *Sets) decode(fields *metav1.FieldsV1) (*fieldpath.Set, error) {
	if fields == nil {
		return fieldpath.NewSet(), nil
	}
	raw := fields.GetRawString()
	s.mu.Lock()
	k := s.find(raw)
	s.mu.Unlock()
	if k != nil {
		return k.set, nil
	}
	set := &fieldpath.Set{}
	if err := set.FromJSON(fields.GetRawReader()); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(raw, &known{set: set})
	return set, nil
}

func (s *Sets) encode(set *fieldpath.Set) (*metav1.FieldsV1, error) {
	raw, err := set.ToJSON()
	if err != nil {
		return nil, err
	}
	fields := &metav1.FieldsV1{}
	fields.SetRawBytes(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := string(raw); s.find(text) == nil {
		s.keep(text, &known{set: set})
	}
	return fields, nil
}

func (s *Sets) isReconciled(fields *metav1.FieldsV1, version fieldpath.APIVersion) bool {
	if fields == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.find(fields.GetRawString())
	return k != nil && slices.Contains(k.reconciled, version)
}

func (s *Sets) setReconciled(fields *metav1.FieldsV1, version fieldpath.APIVersion) {
	if fields == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.find(fields.GetRawString()); k != nil {
		k.reconciled = append(k.reconciled, version)
	}
}

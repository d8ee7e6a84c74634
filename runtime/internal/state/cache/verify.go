package cache

import (
	"fmt"
	"hash/crc32"
	"os"
)

// VerifyFromEnvironment reads APIGEN_VERIFY=1, the switch for expensive checks of invariants, for Config.Verify. A
// program that composes a server calls it once.
func VerifyFromEnvironment() bool { return os.Getenv("APIGEN_VERIFY") == "1" }

// Larger trees than verifyTreeSize are verified once in verifyTreeEvery batches.
const (
	verifyTreeSize  = 1000
	verifyTreeEvery = 64
)

// seal records the payload's checksum, so that check notices when a reader changes bytes that it shares.
func (e *Entry) seal() {
	if e.rare == nil {
		e.rare = &rare{}
	}
	e.rare.checksum = crc32.ChecksumIEEE(e.payload.peek(e.shared))
}

func (e *Entry) check() {
	if e == nil || !e.shared.verify || e.Err() != nil {
		return
	}
	if crc32.ChecksumIEEE(e.payload.peek(e.shared)) != e.rare.checksum {
		panic(fmt.Sprintf("cache: a reader changed the bytes of %s at revision %d, which are shared", e.Key(),
			e.revision))
	}
}

func verifyStep(before, after *state) error {
	if after.revision < before.revision {
		return fmt.Errorf("the revision went backwards from %d to %d", before.revision, after.revision)
	}
	if after.end < before.end {
		return fmt.Errorf("the log went backwards from %d to %d", before.end, after.end)
	}
	return nil
}

// verifyTree checks the invariants of a tree, and that the signatures in it are those of the entries.
func verifyTree(root *node) (err error) {
	if err := root.Verify(); err != nil {
		return err
	}
	root.Leaves(position{}, position{}, func(leaf *node, first, last int) bool {
		for _, s := range leaf.Values()[first:last] {
			if s.signature != s.entry.signature {
				err = fmt.Errorf("%q has signature %x in the tree and %x itself", s.entry.Key(), s.signature,
					s.entry.signature)
			}
		}
		return err == nil
	})
	return err
}

// verifyIndexes checks that each index holds the entries of the tree, in its own order.
func (s *Snapshot) verifyIndexes() error {
	for _, index := range s.indexes {
		if err := verifyTree(index.root); err != nil {
			return fmt.Errorf("an index: %w", err)
		}
		if index.root.Len() != s.root.Len() {
			return fmt.Errorf("the index of field %d holds %d entries, the tree %d", index.order, index.root.Len(),
				s.root.Len())
		}
		for e := range s.Entries("", "") {
			if entryAt(index.root, index.order.position(e)) != e {
				return fmt.Errorf("%s at revision %d is not in the index of field %d", e.Key(), e.revision, index.order)
			}
		}
	}
	return nil
}

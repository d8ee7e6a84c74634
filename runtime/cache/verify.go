package cache

import (
	"fmt"
	"hash/crc32"
	"os"
)

// VerifyFromEnvironment reads the switch that turns on expensive invariants, APIGEN_VERIFY=1, for Config.Verify. Whoever
// composes a server reads it once.
func VerifyFromEnvironment() bool { return os.Getenv("APIGEN_VERIFY") == "1" }

// verifyTreeEvery bounds the cost of verifying: trees of more entries are walked at each so many batches.
const (
	verifyTreeSize  = 1000
	verifyTreeEvery = 64
)

// seal remembers what the payload is, so that check notices when somebody writes to bytes that were handed out.
func (e *Entry) seal() {
	if e.rare == nil {
		e.rare = &rare{}
	}
	e.rare.checksum = crc32.ChecksumIEEE(e.payload)
}

func (e *Entry) check() {
	if e == nil || !e.shared.verify || e.Err() != nil {
		return
	}
	if crc32.ChecksumIEEE(e.payload) != e.rare.checksum {
		panic(fmt.Sprintf("cache: somebody wrote to the bytes of %s at revision %d, which are shared", e.Key(), e.revision))
	}
}

// verifyStep checks what must hold from one state to the next.
func verifyStep(before, after *state) error {
	if after.revision < before.revision {
		return fmt.Errorf("the revision went backwards from %d to %d", before.revision, after.revision)
	}
	if after.end < before.end {
		return fmt.Errorf("the log went backwards from %d to %d", before.end, after.end)
	}
	return nil
}

// verify checks the invariants of the subtree: order, depth, counts and sizes.
func (n *node) verify() error {
	if n == nil {
		return nil
	}
	_, err := n.verifyBelow(position{}, position{}, &position{})
	return err
}

func (n *node) verifyBelow(low, high position, last *position) (depth int, err error) {
	if n.size() == 0 || n.size() > fanout || (len(n.entries) > 0 && len(n.children) > 0) {
		return 0, fmt.Errorf("a node below %q has %d entries and %d children", n.low, len(n.entries), len(n.children))
	}
	if n.low.compare(low) < 0 || (!high.unbounded() && n.low.compare(high) >= 0) {
		return 0, fmt.Errorf("a node's low %q lies outside of %q to %q", n.low, low, high)
	}
	count, poisoned := 0, 0
	for _, s := range n.entries {
		at := n.order.position(s.entry)
		if at.compare(*last) <= 0 || at.compare(n.low) < 0 || (!high.unbounded() && at.compare(high) >= 0) {
			return 0, fmt.Errorf("%q is out of order behind %q", at, *last)
		}
		if s.sign != s.entry.sign {
			return 0, fmt.Errorf("%q has sign %x in the tree and %x itself", at, s.sign, s.entry.sign)
		}
		*last = at
		count, poisoned = count+1, poisoned+poison(s.entry)
	}
	for i, c := range n.children {
		end := high
		if i+1 < len(n.children) {
			end = n.children[i+1].low
		}
		d, err := c.verifyBelow(n.low, end, last)
		if err != nil {
			return 0, err
		}
		if i > 0 && d != depth {
			return 0, fmt.Errorf("the leaves below %q are not at one depth", n.low)
		}
		depth = d
		count, poisoned = count+c.count, poisoned+c.poisoned
	}
	if count != n.count || poisoned != n.poisoned {
		return 0, fmt.Errorf("node %q counts %d entries, %d poisoned, and holds %d, %d", n.low, n.count, n.poisoned, count, poisoned)
	}
	return depth + 1, nil
}

// verifyIndexes checks that each index holds the entries of the tree, in its own order.
func (s *Snapshot) verifyIndexes() error {
	for _, index := range s.indexes {
		if err := index.verify(); err != nil {
			return fmt.Errorf("an index: %w", err)
		}
		if s.root == nil || index == nil {
			if s.root != nil || index != nil {
				return fmt.Errorf("an index and the tree don't hold the same: %v, %v", index != nil, s.root != nil)
			}
			continue
		}
		if index.count != s.root.count {
			return fmt.Errorf("the index of field %d holds %d entries, the tree %d", index.order, index.count, s.root.count)
		}
		for e := range s.Entries("", "") {
			if index.get(index.order.position(e)) != e {
				return fmt.Errorf("%s at revision %d is not in the index of field %d", e.Key(), e.revision, index.order)
			}
		}
	}
	return nil
}

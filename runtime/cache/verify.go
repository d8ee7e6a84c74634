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
	last := ""
	_, err := n.verifyBelow("", "", &last)
	return err
}

func (n *node) verifyBelow(low, high string, last *string) (depth int, err error) {
	if n.size() == 0 || n.size() > fanout || (len(n.entries) > 0 && len(n.children) > 0) {
		return 0, fmt.Errorf("a node below %q has %d entries and %d children", n.low, len(n.entries), len(n.children))
	}
	if n.low < low || (high != "" && n.low >= high) {
		return 0, fmt.Errorf("a node's low %q lies outside of %q to %q", n.low, low, high)
	}
	count, poisoned := 0, 0
	for _, e := range n.entries {
		if e.Key() <= *last || e.Key() < n.low || (high != "" && e.Key() >= high) {
			return 0, fmt.Errorf("key %q is out of order behind %q", e.Key(), *last)
		}
		*last = e.Key()
		count, poisoned = count+1, poisoned+poison(e)
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

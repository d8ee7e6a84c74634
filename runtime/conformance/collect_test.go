package conformance

import (
	"fmt"
	"strings"
	"testing"
)

// owned is a manifest of an object that is owned by a flunder, and blocks its deletion.
func (k *kubectl) owned(manifest, name, owner string) string {
	uid := k.ok("get flunder "+owner+" -o", "jsonpath={.metadata.uid}")
	references := fmt.Sprintf("  ownerReferences:\n  - {apiVersion: wardle.example.com/v1beta1, kind: Flunder, name: "+
		"%s, uid: %s, blockOwnerDeletion: true}\n", owner, uid)
	return strings.Replace(manifest, "  name: "+name+"\n", "  name: "+name+"\n"+references, 1)
}

// emmaAs is emma by another name.
func emmaAs(name string) string {
	return strings.Replace(emma("Emma"), "metadata: {name: emma}", "metadata:\n  name: "+name, 1)
}

// family makes a flunder with a flunder and a book, and a book of that flunder's.
func (k *kubectl) family(name string) {
	k.t.Helper()
	k.with(manifest(name, "x")).ok("create -f -")
	k.with(k.owned(manifest(name+"-child", "x"), name+"-child", name)).ok("create -f -")
	k.with(k.owned(emmaAs(name+"-book"), name+"-book", name)).ok("create -f -")
	k.with(k.owned(emmaAs(name+"-grandchild"), name+"-grandchild", name+"-child")).ok("create -f -")
}

// TestKubectlCascades: what a deletion does to dependents is what kubectl was asked for, and nothing hangs.
func TestKubectlCascades(t *testing.T) {
	k := newKubectl(t)
	for _, policy := range []string{"background", "foreground", "orphan"} {
		k.family(policy)
	}
	k.says("deleted", "delete flunder foreground --cascade=foreground --timeout=30s")
	// In the foreground, all that blocks is gone before the owner, and with it the command.
	k.is("", "get flunders foreground foreground-child --ignore-not-found -o name")
	k.is("", "get books foreground-book foreground-grandchild --ignore-not-found -o name")

	k.says("deleted", "delete flunder background --cascade=background --timeout=30s")
	k.ok("wait --for=delete flunder/background-child book/background-book book/background-grandchild --timeout=30s")

	k.says("deleted", "delete flunder orphan --cascade=orphan --timeout=30s")
	for _, left := range []string{"flunder orphan-child", "book orphan-book"} {
		k.is("", "get "+left+" -o", "jsonpath={.metadata.ownerReferences}")
	}
	k.is("orphan-child", "get book orphan-grandchild -o", "jsonpath={.metadata.ownerReferences[*].name}")

	// What holds a dependent holds its owner, and nothing else does.
	k.family("held")
	k.ok("patch book held-grandchild --type=merge -p", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	k.ok("delete flunder held --cascade=foreground --wait=false")
	k.fails("timed out", "wait --for=delete flunder/held --timeout=1s")
	k.is(`["foregroundDeletion"]`, "get flunder held -o", "jsonpath={.metadata.finalizers}")
	k.ok("patch book held-grandchild --type=merge -p", `{"metadata":{"finalizers":null}}`)
	k.ok("wait --for=delete flunder/held --timeout=30s")

	k.family("all")
	k.says("deleted", "delete flunders,books --all --cascade=foreground --timeout=30s")
	k.is("", "get flunders,books -A -o name")
}

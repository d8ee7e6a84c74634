// Package planted checks the checkers: it plants bugs that stores and caches are known for, one at a time, and expects
// the tests that must find it to fail. It changes no file: the compiler is given the planted line as an overlay.
package planted

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bug is one line of the runtime made wrong.
type bug struct {
	name string
	// file is the one to plant it in; right, which must stand there once, is replaced by wrong.
	file, right, wrong string
	// dir is the package whose tests must find it, and tests are those: each of them must fail alone.
	dir   string
	tests []string
}

var bugs = []bug{
	{
		name: "an owner that the cache lacks is taken for absent", file: "internal/collector/collect.go",
		right: "\t\tcase !live:\n", wrong: "\t\tcase false:\n",
		dir: "internal/collector", tests: []string{"TestAbsenceIsConfirmed"},
	},
	{
		name: "deletions missed by a broken watch", file: "internal/collector/follow.go",
		right: "\t\t\t\tc.reconcile(r, seen)\n", wrong: "",
		dir: "internal/collector", tests: []string{"TestMissedDeletions"},
	},
	{
		name: "a ring that waits for itself", file: "internal/collector/graph.go",
		right: "return !ring", wrong: "return !ring || true",
		dir: "internal/collector", tests: []string{"TestGraph/a_ring"},
	},
	{
		name: "an object deleted that is another one by now", file: "internal/collector/collect.go",
		right: "preconditions := &metav1.Preconditions{UID: &o.uid, ResourceVersion: &o.resourceVersion}",
		wrong: "var preconditions *metav1.Preconditions",
		dir:   "internal/collector", tests: []string{"TestOnlyWhatIsKnownIsDeleted"},
	},
	{
		name:  "an owner taken for absent because nobody serves it at the moment",
		file:  "internal/typedclient/metadata.go",
		right: "details.Name == name", wrong: "(details.Name == name || true)",
		dir: "internal/typedclient", tests: []string{"TestAbsence"},
	},
	{
		name: "an owner confirmed by an answer from before its deletion", file: "internal/collector/confirmed.go",
		right: "\tdelete(c.owners, uid)\n", wrong: "",
		dir: "internal/collector", tests: []string{"TestConfirmedLate"},
	},
	{
		name: "an older state of an object joined into a list", file: "internal/state/cache/block.go",
		right: "j.entries[i].entry == e {", wrong: "j.entries[i].entry.Key() == e.Key() {",
		dir: "internal/state/cache", tests: []string{"TestBlocksAreTheEntriesJoined"},
	},
	{
		name: "a compressed leaf that is older than the leaf", file: "internal/state/cache/block.go",
		right: "func(leaf, from *leafBlocks) { leaf.before = from.lineage() },\n" +
			"\tReplaced: func(leaf *leafBlocks) {\n\t\tleaf.replaced.Store(true)\n\t\tleaf.dropCompressed()\n",
		wrong: "func(leaf, from *leafBlocks) {\n\t\tif leaf.before = from.lineage(); from != nil {\n" +
			"\t\t\tleaf.compressed.Store(from.compressed.Load())\n\t\t}\n\t},\n" +
			"\tReplaced: func(leaf *leafBlocks) {\n\t\tleaf.replaced.Store(true)\n",
		dir: "internal/state/cache", tests: []string{"TestPartsAreTheEntries", "TestPartsAreMadeOnce"},
	},
	{
		name: "an object compressed while it is read all the time", file: "internal/state/cache/cold.go",
		right: "if !p.used.Load() {\n\t\t\tp.used.Store(true)\n\t\t}\n", wrong: "",
		dir: "internal/state/cache", tests: []string{"TestColdEntries", "TestCooler"},
	},
	{
		name: "bytes expanded without their dictionary", file: "internal/state/cache/cold.go",
		right: "int(p.length), s.dictionary)", wrong: "int(p.length), nil)",
		dir: "internal/state/cache", tests: []string{"TestColdEntries", "TestCooler"},
	},
	{
		name: "a list that doesn't know what it must expand", file: "internal/state/cache/entry.go",
		right: "e.Err() == nil && !e.payload.isCold()", wrong: "e.Err() == nil",
		dir: "internal/state/cache", tests: []string{"TestColdEntries", "TestCooler"},
	},
	{
		name: "compressed ages that are over", file: "internal/state/cache/compressed.go",
		right: "return b != nil && (b.until.IsZero()", wrong: "return b != nil && (true || b.until.IsZero()",
		dir: "internal/state/cache", tests: []string{"TestPartsAreTheEntries", "TestPartsAreMadeOnce"},
	},
	{
		name: "a page that begins with what another page began with", file: "internal/state/cache/compressed.go",
		right: "there.first == first && there.last == last", wrong: "there.last == last",
		dir: "internal/state/cache", tests: []string{"TestPartsAreTheEntries", "TestPagesAreMadeOnce"},
	},
	{
		name: "what pages of other sizes compressed stays", file: "internal/state/cache/compressed.go",
		right: "\t\t\t\tthere.drop()\n", wrong: "",
		dir: "internal/state/cache", tests: []string{"TestPartsAreTheEntries", "TestPagesAreMadeOnce"},
	},
	{
		name: "a compressed age in the wrong place", file: "internal/state/cache/compressed.go",
		right: "at := int(hole.At - block.At)", wrong: "at := max(int(hole.At-block.At)-1, from)",
		dir: "internal/state/cache", tests: []string{"TestPartsAreTheEntries"},
	},
	{
		name: "a checksum that forgets what stands before a block", file: "internal/deflate/crc.go",
		right: "return times(a, shift) ^ b", wrong: "return a ^ b",
		dir: "internal/deflate", tests: []string{"FuzzStream", "TestConcatenated"},
	},
	{
		name: "a block that doesn't end before another begins", file: "internal/deflate/stream.go",
		right: "\t\t_ = s.zip.Flush() // its error is the stream's\n", wrong: "",
		dir: "internal/deflate", tests: []string{"FuzzStream"},
	},
	{
		name: "blocks that the length in the trailer doesn't count", file: "internal/deflate/stream.go",
		right: "\ts.size += b.size\n", wrong: "",
		dir: "internal/deflate", tests: []string{"FuzzStream", "TestSizeModulo"},
	},
	{
		name: "joining a question that was already asked", file: "internal/state/cache/progress.go",
		right: "\t\t\ta.next = nil\n\t\t\ta.mu.Unlock()\n\t\t\task(ctx, q)\n\t\t\tclose(q.done)\n",
		wrong: "\t\t\ta.mu.Unlock()\n\t\t\task(ctx, q)\n\t\t\ta.mu.Lock()\n\t\t\ta.next = nil\n" +
			"\t\t\ta.mu.Unlock()\n\t\t\tclose(q.done)\n",
		dir: "internal/state/cache", tests: []string{"TestQuestionsAreSharedButNotJoinedLate"},
	},
	{
		name: "a state older than the answer believed", file: "internal/state/cache/progress.go",
		right: "\tif s.revision >= revision {\n\t\treturn &s.Snapshot, nil\n\t}\n\tc.progress.enter()",
		wrong: "\tif s.revision >= revision-1 {\n\t\treturn &s.Snapshot, nil\n\t}\n\tc.progress.enter()",
		dir:   "internal/state/cache",
		tests: []string{"TestConsistentSeesWhatWasAcknowledged", "TestScripts/consistent"},
	},
	{
		name: "a skipped restamp", file: "internal/state/cache/log.go",
		right: "e := c.previous.restamped(c.revision)", wrong: "e := c.previous",
		dir: "internal/state/cache", tests: []string{"TestCursorsTellExactlyOnce", "TestScripts/watch"},
	},
	{
		name: "a skipped restamp without the cache", file: "internal/state/store/source.go",
		right: "last.Record.Rendition = s.r.codec.Restamp(last.Record.Rendition, e.Revision)", wrong: "_ = e.Revision",
		dir: "registry", tests: []string{"TestWatchFromARevision", "TestWatchDeletedCarriesTheLastMatchingState"},
	},
	{
		name: "a skipped restamp of a message", file: "internal/object/rendition/rendition.go",
		right: "return stampMessage(r, digits)", wrong: "return r",
		dir: "registry", tests: []string{"TestWatchDeletedCarriesTheLastMatchingState/bare_protobuf",
			"TestWatchDeletedCarriesTheLastMatchingState/cache_protobuf"},
	},
	{
		name: "a value in another encoding taken for what would be stored", file: "internal/state/store/commit.go",
		right: "stale = stale || !bytes.Equal(bytes.TrimRight(plain, \"\\n\"), bytes.TrimRight(data, \"\\n\"))",
		wrong: "_ = plain",
		dir:   "registry", tests: []string{"TestEncodingIsMigrated", "TestOtherEncodingIsStale/bare"},
	},
	{
		name: "a length in protobuf that lacks its own head", file: "internal/http/encoder/protobuf.go",
		right: "size += wire.FieldSize(len(rendition.Payload))", wrong: "size += len(rendition.Payload)",
		dir: "internal/http/endpoint", tests: []string{"TestListsInBinary"},
	},
	{
		name: "a repeated transaction", file: "storage/etcd/attempt.go",
		right: "if a.ended && !rejected(a.failure) {", wrong: "if false {",
		dir: "storage/etcd", tests: []string{"TestWritesAreSentOnceAndTheirFailureIsNamed"},
	},
	{
		name: "a write of unknown outcome tried again", file: "internal/state/store/commit.go",
		right: "\t\trevision, err := s.apply(ctx, key, current, p)\n",
		wrong: "\t\trevision, err := s.apply(ctx, key, current, p)\n" +
			"\t\tif errors.Is(err, storage.ErrUnknownOutcome) {\n" +
			"\t\t\trevision, err = s.apply(ctx, key, current, p)\n\t\t}\n",
		dir: "registry", tests: []string{"TestFailedWrites"},
	},
	{
		name: "a dropped event", file: "internal/state/cache/cursor.go",
		right: "if concerns && (err != nil || w.full(limit, c.revision)) {\n\t\t\tw.advance(c.revision - 1)\n",
		wrong: "if concerns && (err != nil || w.full(limit, c.revision)) {\n\t\t\tw.advance(c.revision - 1)\n" +
			"\t\t\tw.place++\n",
		dir: "internal/state/cache", tests: []string{"TestCursorsTellExactlyOnce"},
	},
	{
		name: "an event dropped between the pieces of the state", file: "internal/state/store/source.go",
		right: "\t\t\ts.from = e.Key()\n", wrong: "\t\t\ts.from = e.Key() + \"\\x00\"\n",
		dir: "registry", tests: []string{"TestWatchListEndsWithABookmark"},
	},
	{
		name: "events dropped while the cache is filled", file: "internal/state/cache/follow.go",
		right: "if (known == nil && !e.Deleted) || (known != nil && known.revision < e.Revision) {",
		wrong: "if known != nil && false {",
		dir:   "internal/state/cache", tests: []string{"TestLateEventIsNotLost"},
	},
	{
		name: "an early bookmark", file: "internal/state/cache/cursor.go",
		right: "\t\t\tw.advance(s.revision)\n\t\t\treturn s.changed, nil\n",
		wrong: "\t\t\tw.advance(c.revision)\n\t\t\treturn s.changed, nil\n",
		dir:   "internal/state/cache",
		tests: []string{"TestCursorIsNotAheadOfTheState", "TestRevisionIsNotClaimedTooEarly"},
	},
	{
		name: "a bookmark of the future", file: "internal/state/store/watch.go",
		right: "if err != nil || !arrived {", wrong: "if err != nil || arrived && false {",
		dir: "internal/http/endpoint", tests: []string{"TestMatrixOfWatch", "TestWatchOfTheFuture"},
	},
	{
		name: "another history believed", file: "internal/state/cache/resume.go",
		right: "if !g.followed || g.newest.revision < 2 {", wrong: "if true {",
		dir: "internal/state/cache", tests: []string{"TestResumeOfAnotherHistory/the_newest_change_is_lost"},
	},
	{
		name: "the state's last bookmark before its end", file: "internal/state/store/watch.go",
		right: "if err != nil || !done {", wrong: "if err != nil || done && false {",
		dir: "registry", tests: []string{"TestWatchListEndsWithABookmark"},
	},
	{
		name: "a stale guess believed", file: "internal/state/store/commit.go",
		right: "if (err != nil || p.Verb == Nothing) && !current.fresh {", wrong: "if false {",
		dir: "registry", tests: []string{"TestStaleCacheIsNotBelieved"},
	},
	{
		name: "a caller's guess believed", file: "internal/state/store/commit.go",
		right: "if (err != nil || p.Verb == Nothing) && !current.fresh {", wrong: "if false {",
		dir: "internal/state/store", tests: []string{"TestGuessesAreNotTrusted"},
	},
	{
		name: "a stale entry believed", file: "internal/state/store/reader.go",
		right: "\tif entry == nil || entry.Revision() != kv.Revision {\n\t\treturn r.fromBackend(ctx, key)\n\t}\n",
		wrong: "",
		dir:   "registry", tests: []string{"TestStaleCacheIsNotBelieved"},
	},
	{
		name: "an answer with the revision of before the write", file: "registry/renderahead.go",
		right: "case f.made && (f.revision == revision || f.revision == anyRevision):", wrong: "case f.made:",
		dir: "registry", tests: []string{"TestAnswersOfWritesInOtherForms"},
	},
	{
		name: "a page of another revision", file: "internal/state/store/list.go",
		right: "\tl.exact = max(revision, 0)\n", wrong: "\tl.exact = 0 * revision\n",
		dir: "registry", tests: []string{"TestPagesAreOfOneRevision"},
	},
	{
		name: "a token bent into another prefix", file: "internal/state/store/page.go",
		right: "if !encodable(start) {\n\t\treturn bad(", wrong: "if start == \"\" {\n\t\treturn bad(",
		dir: "registry", tests: []string{"TestListRefuses"},
	},
}

// TestPlantedBugsHaveAPlace: the line that each bug replaces is there, and the package whose tests find it.
func TestPlantedBugsHaveAPlace(t *testing.T) {
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			plant(t, b)
			dependOn(t, filepath.Join("..", filepath.FromSlash(b.dir)))
		})
	}
}

func TestPlantedBugsAreFound(t *testing.T) {
	if os.Getenv("APIGEN_LONG") == "" {
		t.Skip("it compiles a package for each bug, which takes minutes: make test-long runs it")
	}
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			binary := compile(t, b, plant(t, b))
			for _, test := range b.tests {
				mustFail(t, b, binary, test)
			}
		})
	}
}

// plant returns the overlay with the bug.
func plant(t *testing.T, b bug) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(b.file)))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), b.right); n != 1 {
		t.Fatalf("%s has %d times what the bug is to replace: tell the table how it reads now\n%s", b.file, n, b.right)
	}
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bad := write("planted.go", []byte(strings.Replace(string(source), b.right, b.wrong, 1)))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: bad}})
	if err != nil {
		t.Fatal(err)
	}
	return write("overlay.json", overlay)
}

// compile makes the package's tests with the bug in place.
func compile(t *testing.T, b bug, overlay string) string {
	t.Helper()
	dependOn(t, filepath.Join("..", filepath.FromSlash(b.dir)))
	binary := filepath.Join(t.TempDir(), "planted.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay="+overlay, "-o="+binary, "./"+b.dir)
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the bug doesn't compile: %v\n%s", err, out)
	}
	return binary
}

// dependOn looks at the files of a package, so that go doesn't take the result of yesterday when one has changed.
func dependOn(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(dir, file.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// mustFail runs one test with the bug in place.
func mustFail(t *testing.T, b bug, binary, test string) {
	t.Helper()
	pattern := "^" + strings.ReplaceAll(test, "/", "$/^") + "$"
	run := exec.CommandContext(t.Context(), binary, "-test.timeout=60s", "-test.run="+pattern)
	run.Dir = filepath.Join("..", filepath.FromSlash(b.dir))
	out, err := run.CombinedOutput()
	switch text := string(out); {
	case err == nil:
		t.Errorf("%s does not find it:\n%s", test, text)
	case !strings.Contains(text, "--- FAIL: "+test) && !strings.Contains(text, "panic: "):
		t.Errorf("%s failed in another way: %v\n%s", test, err, text)
	}
}

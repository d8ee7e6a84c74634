package matrix

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// differ writes down what ours answers where it differs, with a question mark for the reason: whoever runs it finds the
// reason, or mends the server.
var differ = flag.Bool("differ", false, "write down where ours answers differently")

// minRows is how many rows the tables have, at least.
const minRows = 400

// TestTables: what the tables hold is read and written without a change.
func TestTables(t *testing.T) {
	rows := 0
	for name := range worlds {
		for _, f := range tables(t, name) {
			for _, q := range f.questions {
				rows += len(q.rows)
				for _, r := range q.rows {
					if len(r.theirs) == 0 {
						t.Errorf("%s:%d: %s: nobody recorded kube-apiserver's answer", f.path, q.line, r.label())
					}
					if r.why == "?" {
						t.Errorf("%s:%d: %s: why does ours differ?", f.path, q.line, r.label())
					}
					if r.givesMore(q) {
						t.Errorf("%s:%d: %s: ours gives more than kube-apiserver, which is never on purpose",
							f.path, q.line, r.label())
					}
				}
			}
		}
	}
	t.Logf("%d rows", rows)
	if rows < minRows {
		t.Errorf("%d rows are too few", rows)
	}
}

// givesMore reports whether ours does what kube-apiserver refuses, or shows what it hides. That ours answers HEAD to
// those who may get, where kube-apiserver has no HEAD, shows them nothing that they may not read. Nor does a key that
// kube-apiserver can't find in a document give more than its issuer says.
func (r *row) givesMore(q *question) bool {
	ours, theirs := strings.Join(r.ours, "\n"), strings.Join(r.theirs, "\n")
	if strings.Contains(ours, canaryMark) && !strings.Contains(theirs, canaryMark) {
		return true
	}
	head := strings.HasPrefix(q.request[0], "HEAD ") && strings.HasPrefix(theirs, "405")
	standard := strings.HasPrefix(r.why, "RFC ") // it demands the answer
	return strings.HasPrefix(ours, "2") && !strings.HasPrefix(theirs, "2") && !head && !standard
}

// TestMatrix: each row is answered as kube-apiserver answers it, and leaves the same record of audit.
func TestMatrix(t *testing.T) {
	for name := range worlds {
		t.Run(name, func(t *testing.T) {
			ours := newWorld(name)
			startOurs(t, ours)
			for _, f := range tables(t, name) {
				t.Run(f.name(), func(t *testing.T) { ours.replay(t, f) })
				if *differ {
					f.write(t)
				}
			}
		})
	}
}

// answered is what ours answered to a row.
type answered struct {
	*question
	*row
	id    string
	lines []string
}

func (w *world) replay(t *testing.T, f *table) {
	t.Helper()
	var all []answered
	for _, q := range f.questions {
		for _, r := range q.rows {
			id, lines, err := w.ask(t, q, r)
			if err != nil {
				t.Errorf("%s:%d: %s: %v", f.path, q.line, r.label(), err)
				continue
			}
			all = append(all, answered{q, r, id, lines})
		}
	}
	records := w.settled(t)
	for _, a := range all {
		got := append(a.lines, auditLines(records[a.id], a.question, w.words, a.lines)...)
		a.compare(t, f.path, got)
	}
}

// compare holds an answer against the one that is expected, and takes it over for -differ.
func (a answered) compare(t *testing.T, path string, got []string) {
	t.Helper()
	if slices.Equal(got, a.theirs) { // whatever stands in the table: that is always right
		a.why, a.ours = "", nil
		return
	}
	if *differ {
		if a.ours = got; a.why == "" {
			a.why = "?"
		}
		return
	}
	if want := a.expected(); !slices.Equal(got, want) {
		t.Errorf("%s:%d: %s: %s\n%s", path, a.line, a.label(), a.request[0], difference(want, got))
	}
}

// difference shows the lines that only one of two answers has.
func difference(want, got []string) string {
	var b strings.Builder
	for _, line := range want {
		if !slices.Contains(got, line) {
			fmt.Fprintf(&b, "\t- %s\n", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			fmt.Fprintf(&b, "\t+ %s\n", line)
		}
	}
	return b.String()
}

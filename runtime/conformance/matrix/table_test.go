package matrix

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// table is a file of questions and answers:
//
//	# why a question is there
//	>>> GET /api/v1/namespaces/red/secrets/canary    a request, with headers and body as HTTP has them
//	@who admin reader                                who sends it: each is a row; "-" sends no credentials
//	@how h1 h2                                       over which protocols: each is a row; h1 if nothing is said
//	<<< admin 200 Secret red/canary                  kube-apiserver's answer
//	    audit ...                                    and its audit record
//	<<< reader 403 Forbidden: secrets "canary"...
//	!!! why                                          ours is another
//	<<< reader 404 NotFound: ...
type table struct {
	path      string
	preamble  []string
	questions []*question
}

// question is one request, which several users send.
type question struct {
	line    int
	comment []string
	request []string
	rows    []*row
}

// row is one request of one user over one protocol, with its answer.
type row struct {
	who, how string
	theirs   []string
	// why ours is another answer; "" if it isn't.
	why  string
	ours []string
}

// The marks at the beginnings of lines.
const (
	commentMark = "# "
	requestMark = ">>> "
	answerMark  = "<<< "
	otherMark   = "!!! "
	partMark    = "    "
)

// label names a row within its question.
func (r *row) label() string {
	if r.how == firstProtocol {
		return r.who
	}
	return r.who + "/" + r.how
}

// expected is what ours must answer.
func (r *row) expected() []string {
	if r.why != "" {
		return r.ours
	}
	return r.theirs
}

func tables(t testing.TB, world string) []*table {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "tables", world, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	var all []*table
	for _, path := range paths {
		read, err := readTable(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, read)
	}
	return all
}

func (f *table) name() string { return strings.TrimSuffix(filepath.Base(f.path), ".txt") }

func readTable(path string) (*table, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	reading := reader{table: &table{path: path}}
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		if err := reading.line(i+1, line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	for _, q := range reading.table.questions {
		q.addMissing()
	}
	return reading.table, nil
}

// reader reads a table line by line.
type reader struct {
	*table
	comment []string
	// answer is what further lines of an answer are added to; nil while a request is read.
	answer *[]string
	last   *row
}

func (r *reader) line(number int, line string) error {
	switch {
	case strings.HasPrefix(line, requestMark):
		r.questions = append(r.questions, &question{
			line: number, comment: r.comment, request: []string{strings.TrimPrefix(line, requestMark)},
		})
		r.comment, r.answer, r.last = nil, nil, nil
	case strings.HasPrefix(line, commentMark):
		r.comment = append(r.comment, line)
	case len(r.questions) == 0:
		// A comment above the first question belongs to the file if an empty line follows.
		r.preamble, r.comment = append(append(r.preamble, r.comment...), line), nil
	case r.answer != nil && line == "":
	case strings.HasPrefix(line, answerMark):
		r.startAnswer(strings.TrimPrefix(line, answerMark))
	case strings.HasPrefix(line, otherMark):
		if r.last == nil {
			return fmt.Errorf("%q belongs to no answer", line)
		}
		r.last.why = strings.TrimPrefix(line, otherMark)
	case r.answer != nil && strings.HasPrefix(line, partMark):
		*r.answer = append(*r.answer, strings.TrimPrefix(line, partMark))
	case r.answer == nil:
		q := r.questions[len(r.questions)-1]
		q.request = append(q.request, line)
	default:
		return fmt.Errorf("%q is no line of an answer", line)
	}
	return nil
}

func (r *reader) startAnswer(text string) {
	label, rest, _ := strings.Cut(text, " ")
	who, how, found := strings.Cut(label, "/")
	if !found {
		how = firstProtocol
	}
	if r.last != nil && r.last.why != "" && r.last.ours == nil && r.last.who == who && r.last.how == how {
		r.last.ours = []string{rest}
		r.answer = &r.last.ours
		return
	}
	q := r.questions[len(r.questions)-1]
	r.last = &row{who: who, how: how, theirs: []string{rest}}
	q.rows = append(q.rows, r.last)
	r.answer = &r.last.theirs
}

// addMissing brings the rows into the order of the request's @who and @how: those without an answer are new, and those
// that the request no longer names go.
func (q *question) addMissing() {
	var rows []*row
	for _, how := range q.option("@how", firstProtocol) {
		for _, who := range q.option("@who", nobody) {
			at := slices.IndexFunc(q.rows, func(r *row) bool { return r.who == who && r.how == how })
			if at < 0 {
				rows = append(rows, &row{who: who, how: how})
				continue
			}
			rows = append(rows, q.rows[at])
		}
	}
	q.rows = rows
}

// option returns the words of a line of the request that begins with @.
func (q *question) option(name, otherwise string) []string {
	for _, line := range q.request {
		if words := strings.Fields(line); len(words) > 1 && words[0] == name {
			return words[1:]
		}
	}
	return []string{otherwise}
}

// write writes the file as it was read, with the answers that the rows have now.
func (f *table) write(t testing.TB) {
	t.Helper()
	var b strings.Builder
	if text := strings.TrimSpace(strings.Join(f.preamble, "\n")); text != "" {
		b.WriteString(text + "\n\n")
	}
	for i, q := range f.questions {
		if i > 0 {
			b.WriteString("\n")
		}
		for _, line := range q.comment {
			b.WriteString(line + "\n")
		}
		b.WriteString(requestMark + strings.TrimRight(strings.Join(q.request, "\n"), "\n") + "\n")
		for _, r := range q.rows {
			writeAnswer(&b, r.label(), r.theirs)
			if r.why != "" {
				b.WriteString(otherMark + r.why + "\n")
				writeAnswer(&b, r.label(), r.ours)
			}
		}
	}
	if err := os.WriteFile(f.path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func writeAnswer(b *strings.Builder, label string, answer []string) {
	if len(answer) > 0 {
		b.WriteString(answerMark + label + " " + strings.Join(answer, "\n"+partMark) + "\n")
	}
}

// TestGivesMore: a row on which ours does more is found, whatever reason it has.
func TestGivesMore(t *testing.T) {
	for _, c := range []struct {
		request, theirs, ours string
		want                  bool
	}{
		{"GET /a", "403 Forbidden: no", "200 Secret red/a", true},
		{"GET /a", "200 Secret red/a", "200 Secret red/a" + canaryMark, true},
		{"GET /a", "200 Secret red/a", "404 NotFound: no", false},
		{"HEAD /a", "405", "200", false},
		{"HEAD /a", "403", "200", true},
	} {
		r := &row{theirs: []string{c.theirs}, ours: []string{c.ours}, why: "a reason"}
		if got := r.givesMore(&question{request: []string{c.request}}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
